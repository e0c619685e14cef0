import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../core/errors.ts';
import type { Problem } from '../../core/model/problem.ts';
import type { World } from '../../core/snapshot/world.ts';
import { worldOf } from '../../core/sources/world-of.ts';
import type { Fleet } from '../sources/manifests/fleet.ts';
import { readCase } from './read-case.ts';

export interface OfflineSource {
  /** Folder or file of manifests. */
  readonly from: string;
  /** Read this revision of the repository that `from` is in, instead of the files on disk. */
  readonly ref?: string | undefined;
  /** A file of cases as `berth simulate` reads them; then `from` is not looked at. */
  readonly caseFile?: string | undefined;
  readonly caseName?: string | undefined;
  /** RFC 3339; a case has its own. */
  readonly now: string;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface OfflineWorld {
  readonly world: World;
  /** Of reading: objects with errors are not in the world. */
  readonly problems: readonly Problem[];
}

/** Reads a world without a hub: from a folder, a commit, or a recorded case. */
export async function readOfflineWorld(source: OfflineSource, around: Surroundings): Promise<OfflineWorld> {
  if (source.caseFile !== undefined) {
    const file = path.resolve(around.cwd, source.caseFile);
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new InputError('cannot be read', {
        code: 'case.not-found',
        subject: source.caseFile ?? '',
        cause,
      });
    });
    return { world: readCase(text, { file: source.caseFile, name: source.caseName }), problems: [] };
  }
  const fleet =
    source.ref === undefined ? await readFolder(source.from, around) : await readRevision(source, around);
  return { world: worldOf(fleet.objects, { now: source.now }), problems: fleet.problems };
}

async function readFolder(folder: string, { cwd, signal }: Surroundings): Promise<Fleet> {
  const { readFleetFolder } = await import('../sources/reading/read-fleet-folder.ts');
  return readFleetFolder(path.resolve(cwd, folder), { signal, cwd });
}

async function readRevision(
  { from, ref = 'HEAD' }: OfflineSource,
  { cwd, env }: Surroundings,
): Promise<Fleet> {
  const { findGitDir } = await import('../sources/reading/find-git-dir.ts');
  const { FleetReader } = await import('../sources/reading/fleet-reader.ts');
  const { openRepository } = await import('../../adapters/git/open-repository.ts');
  const { gitDir, below } = await findGitDir(path.resolve(cwd, from));
  const { repository } = await openRepository({ gitDir, ambient: env });
  try {
    const paths = below === '' ? [] : [`${below}/**`];
    return await new FleetReader(repository, { paths }).read(await repository.resolveRevision(ref));
  } finally {
    await repository.close();
  }
}
