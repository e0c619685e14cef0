import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files below these paths, which hold nothing but what is in the repository or will be. */
export function repositoryFiles(...paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (statSync(path).isFile()) return [path];
    const entries = readdirSync(path, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  });
}
