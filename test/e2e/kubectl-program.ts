import { spawnSync } from 'node:child_process';
import type { LooseJson } from '../hub/loose-json.ts';

/**
 * Whether this machine has a kubectl, of this minor version or newer; says why not.
 * @throws Error when there is none and `BERTH_KUBECTL=required`: so does .ci/run wherever kubectl is there or can be installed.
 */
export function hasKubectl(oldestMinor = 0): boolean {
  const problem = problemWithKubectl(oldestMinor);
  if (problem === undefined) return true;
  if (process.env['BERTH_KUBECTL'] === 'required') throw new Error(`BERTH_KUBECTL=required: ${problem}`);
  console.warn(`skipped: ${problem}`);
  return false;
}

function problemWithKubectl(oldestMinor: number): string | undefined {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], {
    encoding: 'utf8',
  });
  if (status !== 0) return 'there is no kubectl on this machine';
  const { clientVersion }: LooseJson = JSON.parse(stdout);
  const version = clientVersion.gitVersion as string;
  const minor = Number(/^v1\.(\d+)/.exec(version)?.[1]);
  return minor >= oldestMinor
    ? undefined
    : `kubectl is ${version}, and 1.${String(oldestMinor)} or newer is needed`;
}
