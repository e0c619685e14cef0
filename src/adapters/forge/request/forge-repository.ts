import type { ForgeProvider } from './forge-providers.ts';

/**
 * A repository at a forge. `repository` is `owner/name`; GitLab's project path, `group/sub/project`; `PROJECT/slug` on Bitbucket
 * Data Center; `organisation/project/repository` on Azure DevOps.
 */
export interface ForgeRepository {
  readonly provider: ForgeProvider;
  /** Base of the API: `https://api.github.com`, `https://gitlab.example/api/v4`, `https://gitea.example/api/v1`, … */
  readonly apiUrl: string;
  readonly repository: string;
  readonly token: () => Promise<string>;
  /** The forge refused the token: the next one must be a new one, where tokens are renewed. */
  readonly refused?: (() => void) | undefined;
}
