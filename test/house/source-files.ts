import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the folders that end like this, as paths from the root of the repository. */
export function sourceFiles(folders: readonly string[], ends: string): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => file.endsWith(ends)),
  );
}
