import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { StepResult } from './scenario.ts';

const FILE = new URL('recorded.jsonl', import.meta.url);

/** What a kube-apiserver 1.35 answered, by the names of the scenarios. */
export function readRecordedScenarios(): Record<string, readonly StepResult[]> {
  if (!existsSync(FILE)) return {};
  const lines = readFileSync(FILE, 'utf8').trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const { name, results } = JSON.parse(line) as { name: string; results: readonly StepResult[] };
      return [name, results];
    }),
  );
}

/** One scenario a line. */
export function writeRecordedScenarios(scenarios: Readonly<Record<string, readonly StepResult[]>>): void {
  const lines = Object.entries(scenarios).map(([name, results]) => JSON.stringify({ name, results }));
  writeFileSync(FILE, `${lines.join('\n')}\n`);
}
