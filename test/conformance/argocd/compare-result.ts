import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { CaseOutput } from '../../../src/app/cli/commands/argocd/cases/render-recorded-case.ts';
import type { RecordedCase } from '../../../src/app/cli/commands/argocd/cases/recorded-inputs.ts';

/** What Argo CD made of a case. */
export type RecordedResult =
  | { readonly applications: readonly unknown[]; readonly ordered: boolean; readonly parameters: unknown }
  | { readonly error: string; readonly reason: string }
  | { readonly anyOf: readonly RecordedResult[] };

export interface ApplicationSetCase extends RecordedCase {
  readonly family: string;
  readonly about: string;
  readonly result: RecordedResult;
  readonly reconcile?: Readonly<Record<string, unknown>>;
}

export interface RecordedLine {
  readonly line: string;
  readonly recorded: ApplicationSetCase;
}

export function readApplicationSetCases(): readonly RecordedLine[] {
  const packed = readFileSync(new URL('appsets.jsonl.gz', import.meta.url));
  return gunzipSync(packed)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => ({ line, recorded: JSON.parse(line) as ApplicationSetCase }));
}

/** A result as it is compared: the order of Applications counts where Argo CD always has the same. */
function comparable(result: RecordedResult, ordered: boolean): string {
  if ('anyOf' in result) throw new TypeError('one of several has to be chosen first');
  if ('error' in result) return `${result.reason}: ${result.error}`;
  const applications = result.applications.map((application) =>
    canonicalJson(JSON.parse(JSON.stringify(application))),
  );
  return (ordered ? applications : applications.sort()).join('\n');
}

type Given = Extract<CaseOutput, { readonly result: unknown }>['result'];

/** The recorded result that a given one must be compared with, and both as text. */
export function sidesOf(wanted: RecordedResult, given: Given): { want: string; got: string } {
  const choices = 'anyOf' in wanted ? wanted.anyOf : [wanted];
  const sides = choices.map((choice) => {
    const ordered = 'ordered' in choice && choice.ordered;
    return { want: comparable(choice, ordered), got: comparable(given as RecordedResult, ordered) };
  });
  return sides.find(({ want, got }) => want === got) ?? (sides[0] as { want: string; got: string });
}
