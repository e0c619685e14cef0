import { ConflictError } from '@berth/runtime/errors';
import type { Lease, LeaseStore, StoredLease } from '../../src/leader-election/lease.ts';

/** One lease in memory: every write makes a new version, and fails unless it names the one that stands. */
export class MemoryLeaseStore implements LeaseStore {
  readonly name = 'test/lease';
  current: StoredLease | undefined;
  #version = 0;

  read = async (): Promise<StoredLease | undefined> => this.current;

  create = async (lease: Lease): Promise<StoredLease> => {
    if (this.current !== undefined) throw conflict();
    return this.put(lease);
  };

  replace = async (before: StoredLease, lease: Lease): Promise<StoredLease> => {
    if (this.current?.version !== before.version) throw conflict();
    return this.put(lease);
  };

  /** As somebody else would. */
  put(lease: Lease): StoredLease {
    return (this.current = { ...lease, version: String(++this.#version) });
  }
}

function conflict(): ConflictError {
  return new ConflictError('was written since', { code: 'test.conflict', subject: 'lease' });
}
