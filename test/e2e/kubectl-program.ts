import { spawnSync } from 'node:child_process';
import { readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isAvailable } from '@berth/test-kit/needed-program';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';

/**
 * Whether this machine has a kubectl, of this minor version or newer.
 * @throws as `isAvailable` does
 */
export function hasKubectl(oldestMinor = 0): boolean {
  return isAvailable('kubectl', problemWithKubectl(oldestMinor));
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

/**
 * A kubectl that asks its server only what its command needs. Google's dispatcher asks for the version first, to choose one of the kubectls
 * beside it; then this is the newest of those.
 */
export function plainKubectl(): string {
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  if (!stdout.includes('-dispatcher"')) return 'kubectl';
  const found = (process.env['PATH'] ?? '').split(path.delimiter).flatMap((folder) => {
    try {
      return [path.dirname(realpathSync(path.join(folder, 'kubectl')))];
    } catch {
      return [];
    }
  });
  const [folder = ''] = found;
  const minors = readdirSync(folder).flatMap((name) => /^kubectl\.1\.(\d+)$/.exec(name)?.[1] ?? []);
  return path.join(folder, `kubectl.1.${Math.max(...minors.map(Number))}`);
}
