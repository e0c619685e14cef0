import { z } from 'zod';
import { makeFieldLocator } from '../../../adapters/yaml/locate-fields.ts';
import { configProblem, parseConfig } from '../../../adapters/yaml/parse-config.ts';
import { BOOL, DYN } from '@berth/kube-cel/value/cel-type';
import type { CelProblem } from '@berth/kube-cel/value/cel-problem';
import { InputError } from '@berth/runtime/errors';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import type { PlanRule } from '../../../core/preview/rules/plan-rule.ts';
import { compileRule } from '../../../core/preview/rules/rule-cel.ts';

const text = z.string().min(1);

/** docs/preview.md explains the fields. */
export const rulesSchema = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        name: text.describe('shown when a plan breaks the rule'),
        expression: text.describe('CEL over `plan`; true if the plan obeys the rule'),
        effect: z.enum(['deny', 'warn']).default('deny').describe('deny stops the plan'),
        message: text.describe('what the author of a change reads'),
        owners: z
          .array(text)
          .default([])
          .describe('who may be asked about the rule, and may override it on a pull request'),
      }),
    )
    .describe('each rule is judged separately'),
});

export interface RulesText {
  /** The name of the file in messages. */
  readonly file: string;
  readonly text: string;
  readonly commit?: string | undefined;
}

/**
 * Parses guard rules, and checks that their expressions compile.
 * @throws InputError with file, line and column for the first thing that is wrong
 */
export function parseRules({ file, text: source, commit }: RulesText): readonly PlanRule[] {
  const config = { file, text: source, subject: 'Rules', code: 'rules.file', commit };
  const { rules } = parseConfig(config, rulesSchema);
  const locate = makeFieldLocator(source);
  const names = new Set<string>();
  return rules.map((rule, index) => {
    if (names.has(rule.name))
      throw configProblem(config, ['rules', index, 'name'], `got a second rule with the name ${rule.name}`);
    names.add(rule.name);
    const at = locate({ document: 0, within: [] }, ['rules', index, 'expression']);
    const location = { file, ...at, ...(commit === undefined ? {} : { commit }) };
    const compiled = compileRule(rule.expression);
    const fail = (message: string, place: SourceLocation): InputError =>
      new InputError(message, { code: 'rules.expression', subject: `Rule ${rule.name}`, location: place });
    if (!compiled.ok)
      throw fail(`expression: ${compiled.problem.message}`, placeOf(compiled.problem, source, location));
    const { type } = compiled.program;
    if (type.name !== BOOL.name && type.name !== DYN.name)
      throw fail('expression: expected a bool', location);
    return { ...rule, location };
  });
}

/** The place in the file of a problem inside an expression. The expression may be quoted, or a block of several lines. */
function placeOf(problem: CelProblem, source: string, location: SourceLocation): SourceLocation {
  const wanted = (problem.expression.split('\n')[problem.line - 1] ?? '').trim();
  const lines = source.split('\n');
  const indent = (problem.expression.split('\n')[problem.line - 1] ?? '').search(/\S/);
  for (let at = location.line - 1; at < lines.length; at++) {
    const from = at === location.line - 1 ? location.column - 1 : 0;
    const found = wanted === '' ? -1 : (lines[at] ?? '').indexOf(wanted, from);
    if (found >= 0)
      return { ...location, line: at + 1, column: found + problem.column - Math.max(0, indent) };
  }
  return location;
}
