import type { ResponseFields } from '../request/response-fields.ts';

/**
 * An event of a forge, in terms of Berth. It is only a hint: Berth reads from the repository before it acts.
 * `repositoryName` is `PROJECT/slug`, for a forge that may send no address (Bitbucket Data Center).
 */
export type WebhookEvent =
  | {
      readonly kind: 'push';
      /** Every address under which the forge knows the repository. */
      readonly repositoryUrls: readonly string[];
      readonly repositoryName?: string | undefined;
      /** `refs/heads/main`; absent if the forge did not send it. */
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
      /** The account of the author: a name, or an id if the forge's names are not unique. */
      readonly author: string;
      /** The name for display, if `author` is an id. */
      readonly authorName?: string | undefined;
      readonly text: string;
    }
  /** A merge queue asks for checks of a group that it wants to merge. */
  | {
      readonly kind: 'merge-group';
      readonly repositoryUrls: readonly string[];
      readonly repositoryName?: string | undefined;
      /** Full ids. */
      readonly head: string;
      readonly base: string;
      readonly baseBranch: string;
    }
  /** Authentic, but not relevant: a ping, a star. */
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

/** The text if it is the id of a commit. Accepts only full ids: a short one (Bitbucket sends 12 digits) would be a guess. */
export function commitId(text: string | undefined): string | undefined {
  return text !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) && !/^0+$/.test(text)
    ? text
    : undefined;
}

/**
 * For forges whose deliveries may report several refs: the ref, if it is the only one.
 * @param list the path of the list of changes in the payload
 * @param refPath the path of the ref in a change
 */
export function onlyRef(
  payload: ResponseFields,
  list: readonly string[],
  refPath: readonly string[],
): string | undefined {
  return payload.at(...list, 1) === undefined ? payload.text(...list, 0, ...refPath) : undefined;
}

/** The name of a branch from its full ref. Another text is returned unchanged. */
export function branchOfRef(ref: string | undefined): string | undefined {
  return ref?.replace(/^refs\/heads\//, '');
}
