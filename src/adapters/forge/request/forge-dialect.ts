import type { CommitStatus } from '../../../core/ports.ts';
import type { ForgeRepository } from './forge-repository.ts';

/** What one forge has of its own in every request. */
export interface ForgeDialect {
  /** Value of the header `authorization`. */
  authorization(token: string): string;
  /** What the URL of a repository tells of the API; undefined: nothing. */
  address(url: RepositoryAddress): Pick<ForgeRepository, 'apiUrl' | 'repository'> | undefined;
  /** The request that writes a status to a commit. `path` begins with a slash. */
  status(repository: string, status: CommitStatus): { readonly path: string; readonly body: object };
}

/** The parts of a repository's URL. */
export interface RepositoryAddress {
  /** With the port, where it is one of https. */
  readonly host: string;
  /** `https://` and the host. */
  readonly base: string;
  /** Without slashes at its ends, and without `.git`. */
  readonly path: string;
}

/** Each part escaped: `team/my%20fleet`. */
export function escapedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

const MAX_DESCRIPTION = 140;

/** As long as every forge takes it. */
export function shortDescription({ description }: Pick<CommitStatus, 'description'>): string {
  return description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION - 1)}…` : description;
}
