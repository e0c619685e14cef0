import { readFileSync } from 'node:fs';
import type * as fs from 'node:fs/promises';

type Fs = typeof fs;

/**
 * For `vi.mock('node:fs/promises', ...)`: reads each file in one go, and not by four requests to another thread. The answer is the
 * same, and comes later all the same. For tests that read hundreds of thousands of small files.
 */
export function readingAtOnce(real: Fs): Fs {
  // Before the first turn of whoever asks, nothing is read: as with the real one.
  const readFile = async (...[file, options]: Parameters<typeof readFileSync>): Promise<string | Buffer> => {
    await Promise.resolve();
    return readFileSync(file, options);
  };
  return { ...real, readFile } as unknown as Fs;
}
