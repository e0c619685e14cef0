import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const EXAMPLE = join(import.meta.dirname, '../../examples/argocd-pull/run.mjs');

it('runs examples/argocd-pull: an Application goes to its cluster, and its status comes back', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE]);
  expect(stdout).toContain('ManifestWork east/shop-');
  const [, status = ''] = stdout.split('The status of the Application on the hub');
  expect(JSON.parse(status)).toEqual({
    health: { status: 'Healthy' },
    sync: { status: 'Synced', revision: 'abc' },
  });
});
