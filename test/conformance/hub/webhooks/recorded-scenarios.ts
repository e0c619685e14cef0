import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { StepResult } from './scenario.ts';

export const WEBHOOK_RECORDING = new URL('recorded.jsonl', import.meta.url);

/** What a kube-apiserver 1.35 answered, by the names of the scenarios. */
export function readRecordedScenarios(file: URL): Record<string, readonly StepResult[]> {
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const { name, results } = JSON.parse(line) as { name: string; results: readonly StepResult[] };
      return [name, results];
    }),
  );
}

/** One scenario a line. */
export function writeRecordedScenarios(
  file: URL,
  scenarios: Readonly<Record<string, readonly StepResult[]>>,
): void {
  const lines = Object.entries(scenarios).map(([name, results]) => JSON.stringify({ name, results }));
  writeFileSync(file, `${lines.join('\n')}\n`);
}
