/**
 * What a forge reported, in our terms. It is only a hint: the repository is asked before anything is done. `repositoryName` is
 * `PROJECT/slug` where a forge may send no address (Bitbucket Data Center).
 */
export type WebhookEvent =
  | {
      readonly kind: 'push';
      /** Every address under which the forge knows the repository. */
      readonly repositoryUrls: readonly string[];
      readonly repositoryName?: string | undefined;
      /** `refs/heads/main`; absent when the forge did not say. */
      readonly ref?: string | undefined;
      readonly commit?: string | undefined;
    }
  | {
      readonly kind: 'pull-request';
      readonly repositoryUrls: readonly string[];
      readonly repositoryName?: string | undefined;
      readonly number: number;
      readonly state: 'open' | 'closed';
      readonly head: { readonly commit?: string | undefined; readonly branch?: string | undefined };
      readonly base: { readonly branch?: string | undefined };
    }
  /** A new comment on a pull request. */
  | {
      readonly kind: 'comment';
      readonly repositoryUrls: readonly string[];
      readonly repositoryName?: string | undefined;
      readonly number: number;
      readonly id: string;
      /** The account that wrote it: a name, or an id where names are not unique. */
      readonly author: string;
      /** What people call it, where `author` is an id. */
      readonly authorName?: string | undefined;
      readonly text: string;
    }
  /** A merge queue asks for checks of what it would merge. */
  | {
      readonly kind: 'merge-group';
      readonly repositoryUrls: readonly string[];
      readonly repositoryName?: string | undefined;
      /** Full ids. */
      readonly head: string;
      readonly base: string;
      readonly baseBranch: string;
    }
  /** Authentic, but nothing that concerns us: a ping, a star. */
  | { readonly kind: 'other'; readonly event: string };

export const WEBHOOK_PROVIDERS = [
  'github',
  'gitlab',
  'gitea',
  'bitbucket',
  'azure-devops',
  'generic',
] as const;
export type WebhookProvider = (typeof WEBHOOK_PROVIDERS)[number];

/** Header names in lower case. */
export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
