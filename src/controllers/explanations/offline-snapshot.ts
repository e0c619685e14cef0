import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError, errorText } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import { assumedSetNotes, withAssumedSets } from '../../core/registration/cluster-sets.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { type ParsedCase, type SimulationCase, checkSimulationCase } from './simulation-case.ts';

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

/**
 * Reads a snapshot from JSON Lines of cases. A case is the line itself, or its field `case` as in recorded results.
 * @param from `name`: the name of the case; undefined: the first one
 * @throws InputError with the line of an invalid case, or if there is no such case
 */
export function readCaseSnapshot(
  text: string,
  from: { readonly file: string; readonly name?: string | undefined },
): Pick<SimulationCase, 'snapshot' | 'assumed'> {
  const names: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const found = parseLine(line);
    if (!found.ok)
      throw new InputError(found.error, {
        code: 'case.syntax',
        subject: 'Case',
        location: { file: from.file, line: index + 1, column: 1 },
      });
    if (from.name === undefined || found.name === from.name) return found;
    names.push(found.name);
  }
  const known = names.slice(0, 5).join(', ');
  const problem =
    names.length === 0 ? 'contains no case' : `has no case ${JSON.stringify(from.name)}, it has ${known}`;
  throw new InputError(problem, { code: 'case.not-found', subject: from.file });
}

function parseLine(line: string): ParsedCase {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { ok: false, error: `not JSON (${errorText(error)}), expected one case object per line` };
  }
  const isWrapped = typeof value === 'object' && value !== null && Object.hasOwn(value, 'case');
  return checkSimulationCase(isWrapped ? (value as { readonly case: unknown }).case : value);
}
