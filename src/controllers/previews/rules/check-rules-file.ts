import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../../core/errors.ts';
import { errorProblem } from '../../../core/sources/error-problem.ts';
import type { Problem } from '../../../core/model/problem.ts';
import { RULES_FILE } from '../../../core/preview/rules/plan-rule.ts';
import { parseRules } from './parse-rules.ts';

/** What is wrong with the guard rules of a folder; nothing where it has none. */
export async function checkRulesFile(folder: string): Promise<readonly Problem[]> {
  const text = await readFile(path.join(folder, RULES_FILE), 'utf8').catch((error: unknown) => {
    // A single file may be checked, too.
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
