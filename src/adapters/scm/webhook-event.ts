/** What a forge reported, in our terms. It is only a hint: the repository is asked before anything is done. */
export type WebhookEvent =
  | {
      readonly kind: 'push';
      /** Every address under which the forge knows the repository. */
      readonly repositoryUrls: readonly string[];
      /** `refs/heads/main`; absent when the forge did not say. */
      readonly ref?: string | undefined;
      readonly commit?: string | undefined;
    }
  | {
      readonly kind: 'pull-request';
      readonly repositoryUrls: readonly string[];
      readonly number: number;
      readonly state: 'open' | 'closed';
      readonly head: { readonly commit?: string | undefined; readonly branch?: string | undefined };
      readonly base: { readonly branch?: string | undefined };
    }
  /** Authentic, but nothing that concerns us: a ping, a comment, a star. */
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
