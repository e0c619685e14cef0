import { spawnSync } from 'node:child_process';
import type { LooseJson } from '../hub/loose-json.ts';

/** Older releases read nothing but the OpenAPI v2 document, which the hub does not serve. */
const OLDEST_MINOR = 29;

/**
 * Whether this machine has a kubectl that the hub supports; says why not.
 * @throws Error when there is none and `BERTH_KUBECTL=required`: so does .ci/run wherever kubectl is there or can be installed.
 */
export function hasKubectl(): boolean {
  const problem = problemWithKubectl();
  if (problem === undefined) return true;
  if (process.env['BERTH_KUBECTL'] === 'required') throw new Error(`BERTH_KUBECTL=required: ${problem}`);
  console.warn(`skipped: ${problem}`);
  return false;
}

function problemWithKubectl(): string | undefined {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], {
    encoding: 'utf8',
  });
  if (status !== 0) return 'there is no kubectl on this machine';
  const { clientVersion }: LooseJson = JSON.parse(stdout);
  const version = clientVersion.gitVersion as string;
  const minor = Number(/^v1\.(\d+)/.exec(version)?.[1]);
  return minor >= OLDEST_MINOR
    ? undefined
    : `kubectl is ${version}, and 1.${String(OLDEST_MINOR)} or newer is needed`;
}
