import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { assumedSetNotes, withAssumedSets } from '../../core/registration/sets/assumed-sets.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { readCaseSnapshot } from './read-case-snapshot.ts';

export interface OfflineSource {
  /** Folder or file of manifests. */
  readonly from: string;
  /** Reads this revision of the repository that contains `from`, instead of the files on disk. */
  readonly ref?: string | undefined;
  /** A file of cases in the format of `berth simulate`. If it is given, `from` is ignored. */
  readonly caseFile?: string | undefined;
  readonly caseName?: string | undefined;
  /** RFC 3339. A case has its own time. */
  readonly now: string;
}

export interface CommandContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface OfflineSnapshot {
  readonly snapshot: Snapshot;
  /** Problems found while reading. Objects with errors are not in the snapshot. */
  readonly problems: readonly Problem[];
  /** What the snapshot has that was not declared, one sentence each. */
  readonly assumed: readonly string[];
}

/** Reads a snapshot without a hub: from a folder, from a commit, or from a recorded case. */
export async function readOfflineSnapshot(
  source: OfflineSource,
  context: CommandContext,
): Promise<OfflineSnapshot> {
  if (source.caseFile !== undefined) {
    const file = path.resolve(context.cwd, source.caseFile);
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new InputError('cannot be read', {
        code: 'case.not-found',
        subject: source.caseFile ?? '',
        cause,
      });
    });
    const given = readCaseSnapshot(text, { file: source.caseFile, name: source.caseName });
    return { ...given, problems: [] };
  }
  const content =
    source.ref === undefined ? await readFolder(source.from, context) : await readRevision(source, context);
  const declared = snapshotOfObjects(content.objects, { now: source.now });
  return {
    snapshot: withAssumedSets(declared),
    problems: content.problems,
    assumed: assumedSetNotes(declared),
  };
}

async function readFolder(folder: string, { cwd, signal }: CommandContext): Promise<SourceContent> {
  const { readSourceFolder } = await import('../sources/reading/read-source-folder.ts');
  return readSourceFolder(path.resolve(cwd, folder), { signal, cwd });
}

async function readRevision(
  { from, ref = 'HEAD' }: OfflineSource,
  { cwd, env }: CommandContext,
): Promise<SourceContent> {
  const { findGitDir } = await import('../sources/reading/find-git-dir.ts');
  const { SourceReader } = await import('../sources/reading/source-reader.ts');
  const { openRepository } = await import('@berth/git-reader/open-repository');
  const { gitDir, below } = await findGitDir(path.resolve(cwd, from));
  const { repository } = await openRepository({ gitDir, ambient: env });
  try {
    const paths = below === '' ? [] : [`${below}/**`];
    return await new SourceReader(repository, { paths }).read(await repository.resolveRevision(ref));
  } finally {
    await repository.close();
  }
}
