import type { GitRepository } from '@berth/git-reader/repository/git-repository';
import { InputError } from '@berth/runtime/errors';
import { type PlanRule, RULES_FILE } from '../../../core/preview/rules/plan-rule.ts';

const MAX_BYTES = 1_000_000;

/** The guard rules of one commit, and the id of their file. */
export interface CommittedRules {
  readonly blob: string;
  readonly rules: readonly PlanRule[];
}

/**
 * Reads the guard rules of a commit.
 * @param commit full id
 * @returns undefined if the commit has none
 * @throws InputError when they cannot be read: Berth judges nothing without them
 */
export async function readRules(
  repository: Pick<GitRepository, 'listTree' | 'readBlobs'>,
  commit: string,
): Promise<CommittedRules | undefined> {
  const entry = (await repository.listTree(commit)).find(({ path }) => path === RULES_FILE);
  if (entry === undefined) return undefined;
  const fail = (problem: string): InputError =>
    new InputError(problem, {
      code: 'rules.file',
      subject: 'Rules',
      location: { file: RULES_FILE, line: 1, column: 1, commit },
    });
  if (!entry.mode.startsWith('100')) throw fail('expected a regular file, not a link or a submodule');
  let bytes: Uint8Array | undefined;
  await repository.readBlobs([entry.id], { maxBytes: MAX_BYTES }, (blob) => {
    bytes = blob.state === 'read' ? blob.bytes : undefined;
  });
  if (bytes === undefined) throw fail(`cannot be read, expected at most ${MAX_BYTES} bytes`);
  const text = new TextDecoder().decode(bytes);
  // Most repositories have no rules, and their parser takes a tenth of a second to load.
  const { parseRules } = await import('./parse-rules.ts');
  return { blob: entry.id, rules: parseRules({ file: RULES_FILE, text, commit }) };
}
