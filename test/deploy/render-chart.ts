import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CHART } from './generated-files.ts';

/** Values of the chart, as far as they differ from the defaults. */
export type Values = Readonly<Record<string, unknown>>;

export const CONTROLLERS_NAMESPACE = 'berth-system';

/** What helm answers: the rendered text, or why it refuses. */
export function helm(
  program: string,
  args: readonly string[],
  input: string,
): { stdout: string; stderr: string } {
  const { stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 1 << 26 });
  return { stdout, stderr };
}

export function templateText(program: string, values: Values, namespace = CONTROLLERS_NAMESPACE) {
  // A helm that was built without flags knows no version of Kubernetes.
  const args = [
    'template',
    'berth',
    CHART,
    '--namespace',
    namespace,
    '--kube-version',
    '1.35.0',
    '--values',
    '-',
  ];
  return helm(program, args, JSON.stringify(values));
}

/**
 * Copies a chart into a folder, for an API server that was built without its version.
 * @returns the path of the copy
 */
export function copyChart(dir: string, chart = CHART): string {
  const copy = join(dir, 'chart');
  cpSync(chart, copy, { recursive: true });
  const about = readFileSync(join(copy, 'Chart.yaml'), 'utf8');
  writeFileSync(join(copy, 'Chart.yaml'), about.replace(/^kubeVersion:.*$/m, ''));
  return copy;
}

/**
 * The objects of the chart.
 * @throws Error with the text of helm where it refuses the values
 */
export function renderChart(program: string, values: Values, namespace?: string): readonly KubeObject[] {
  const { stdout, stderr } = templateText(program, values, namespace);
  if (stdout === '') throw new Error(stderr);
  return (loadAll(stdout) as readonly (KubeObject | null)[]).filter((object) => object !== null);
}

/** Values with one more, at a path. */
export function withValue(values: Values, [first = '', ...rest]: readonly string[], value: unknown): Values {
  const before = (values[first] ?? {}) as Values;
  return { ...values, [first]: rest.length === 0 ? value : withValue(before, rest, value) };
}
