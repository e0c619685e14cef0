import fs from 'node:fs';
import type { MakeDirectoryOptions } from 'node:fs';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';

const { mkdir, readFile, writeFile } = fs.promises;

/**
 * The file system for isomorphic-git. Only the owner may read and write the files and folders that
 * it creates, independent of the umask.
 */
export const privateFs = {
  promises: {
    ...fs.promises,
    // isomorphic-git also calls it without arguments, to find out whether it returns a promise.
    readFile: (...given: Parameters<typeof readFile> | []) =>
      given.length === 0 ? Promise.resolve() : readFile(...given),
    mkdir: (path: string, options: MakeDirectoryOptions = {}) =>
      mkdir(path, { ...options, mode: PRIVATE_DIRECTORY_MODE }),
    writeFile: (...[file, data, options]: Parameters<typeof writeFile>) =>
      writeFile(file, data, {
        ...(typeof options === 'string' ? { encoding: options } : options),
        mode: PRIVATE_FILE_MODE,
      }),
  },
};
