import type { Problem } from '@berth/runtime/problem/problem';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import { describeProblem } from '../../sources/describe-problem.ts';
import type { Plan } from '../plan.ts';
import { brokenRules, ruleText } from '../plan-text.ts';

/** The fields of SARIF 2.1.0 that are written. Source: OASIS, sarif-schema-2.1.0. */
export interface SarifLog {
  readonly $schema: string;
  readonly version: '2.1.0';
  readonly runs: readonly SarifRun[];
}

interface SarifRun {
  readonly tool: {
    readonly driver: {
      readonly name: string;
      readonly informationUri?: string;
      readonly rules: readonly { readonly id: string }[];
    };
  };
  readonly results: readonly SarifResult[];
}

interface SarifResult {
  readonly ruleId: string;
  readonly level: 'error' | 'warning' | 'note';
  readonly message: { readonly text: string };
  readonly locations?: readonly unknown[];
}

const LEVELS = { danger: 'error', warning: 'warning', notice: 'note' } as const;

/** Rules, risks and problems of the head for code scanning, each with the position of its object. */
export function planSarif(plan: Plan, problems: readonly Problem[]): SarifLog {
  const results: readonly SarifResult[] = [
    ...brokenRules(plan).map((rule) =>
      resultOf(`rule.${rule.name}`, rule.effect === 'deny' ? 'error' : 'warning', {
        text: ruleText(rule),
        location: rule.location,
      }),
    ),
    ...plan.findings.map(({ code, severity, subject, message, location }) =>
      resultOf(`risk.${code}`, LEVELS[severity], { text: `${subject}: ${message}`, location }),
    ),
    ...problems.map((problem) => {
      const { severity, sentence, hint, location } = describeProblem(problem);
      const text = hint === undefined ? sentence : `${sentence} (${hint})`;
      return resultOf(problem.code, severity, { text, location });
    }),
  ];
  const ids = [...new Set(results.map(({ ruleId }) => ruleId))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'berth plan', rules: ids.map((id) => ({ id })) } }, results }],
  };
}

interface ResultContent {
  readonly text: string;
  readonly location: SourceLocation | undefined;
}

function resultOf(
  ruleId: string,
  level: SarifResult['level'],
  { text, location }: ResultContent,
): SarifResult {
  const result = { ruleId, level, message: { text } };
  return location === undefined ? result : { ...result, locations: [physical(location)] };
}

function physical({ file, line, column }: SourceLocation): unknown {
  return {
    physicalLocation: {
      artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
      region: { startLine: line, startColumn: column },
    },
  };
}
