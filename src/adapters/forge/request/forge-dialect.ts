import type { CommitStatus } from '../../../core/ports.ts';
import type { ForgeRepository } from './forge-repository.ts';

/** What is specific to one forge in every request. */
export interface ForgeDialect {
  /** The value of the `authorization` header. */
  authorization(token: string): string;
  /** Derives the address of the API from the URL of a repository; undefined if that is not possible. */
  address(url: RepositoryAddress): Pick<ForgeRepository, 'apiUrl' | 'repository'> | undefined;
  /** The request that writes a status to a commit. `path` starts with a slash. */
  status(repository: string, status: CommitStatus): { readonly path: string; readonly body: object };
}

/** The parts of a repository's URL. */
export interface RepositoryAddress {
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

const MAX_DESCRIPTION = 140;

/** Shortened to a length that every forge accepts. */
export function shortDescription({ description }: Pick<CommitStatus, 'description'>): string {
  return description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION - 1)}…` : description;
}
