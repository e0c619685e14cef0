/** The forges that Berth supports for previews of pull requests and for commit statuses. */
export const FORGE_PROVIDERS = [
  'gitea',
  'github',
  'gitlab',
  'bitbucket',
  'bitbucket-data-center',
  'azure-devops',
] as const;
export type ForgeProvider = (typeof FORGE_PROVIDERS)[number];

/**
 * A repository at a forge. `repository` is `owner/name`; at GitLab the project path, `group/sub/project`; at Bitbucket
 * Data Center `PROJECT/slug`; at Azure DevOps `organisation/project/repository`.
 */
export interface ForgeRepository {
  readonly provider: ForgeProvider;
  /** Base of the API: `https://api.github.com`, `https://gitlab.example/api/v4`, `https://gitea.example/api/v1`, … */
  readonly apiUrl: string;
  readonly repository: string;
  readonly token: () => Promise<string>;
  /** Called when the forge refused the token. A renewable token must then be replaced. */
  readonly onRefused?: (() => void) | undefined;
}
