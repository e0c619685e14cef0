import type { CommitStatus } from '../contract/pull-request-forge.ts';
import type { ForgeRepository } from './forge-repository.ts';

/** What is specific to one forge in every request. */
export interface ForgeDialect {
  /** The value of the `authorization` header. */
  authorization(token: string): string;
  /** Derives the API of the forge, and the repository there, from a URL; undefined if that is not possible. */
  apiOf(url: RepositoryUrl): Pick<ForgeRepository, 'apiUrl' | 'repository'> | undefined;
  /** The request that writes a status to a commit. `path` starts with a slash. */
  status(repository: string, status: CommitStatus): { readonly path: string; readonly body: object };
}

/** The parts of a repository's URL. */
export interface RepositoryUrl {
  /** Includes the port if the URL is an https one. */
  readonly host: string;
  /** `https://` and the host. */
  readonly base: string;
  /** Without slashes at either end, and without `.git`. */
  readonly path: string;
}

/** Percent-encodes each part: `team/my%20fleet`. */
export function escapedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

const MAX_DESCRIPTION_LENGTH = 140;

/** The description of a status, shortened to a length that every forge accepts. */
export function shortDescription({ description }: Pick<CommitStatus, 'description'>): string {
  return description.length > MAX_DESCRIPTION_LENGTH
    ? `${description.slice(0, MAX_DESCRIPTION_LENGTH - 1)}…`
    : description;
}
