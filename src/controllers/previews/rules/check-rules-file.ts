import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { errorProblem } from '../../../core/sources/describe-problem.ts';
import type { Problem } from '@berth/runtime/problem/problem';
import { RULES_FILE } from '../../../core/preview/rules/plan-rule.ts';
import { parseRules } from './parse-rules.ts';

/** The problems of the guard rules in a folder; none if it has no rules. */
export async function checkRulesFile(folder: string): Promise<readonly Problem[]> {
  const text = await readFile(path.join(folder, RULES_FILE), 'utf8').catch((error: unknown) => {
    // The path may also be a single file.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  });
  if (text === undefined) return [];
  try {
    parseRules({ file: RULES_FILE, text });
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return [errorProblem(error)];
  }
}
