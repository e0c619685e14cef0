import { isMainThread } from 'node:worker_threads';

/** Files that git writes are accessible to their owner only. */
const PRIVATE_UMASK = 0o077;

/** Starts a program that inherits the umask. Node.js can set it only for the whole process. */
export function withPrivateUmask<T>(start: () => T): T {
  // Threads cannot set it. None of our threads starts a git that writes.
  if (!isMainThread) return start();
  const before = process.umask(PRIVATE_UMASK);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}
