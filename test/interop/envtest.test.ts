import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAvailable } from '@berth/test-kit/needed-program';

const MODULE = join(import.meta.dirname, 'envtest');
const LAUNCHERS = join(import.meta.dirname, '../../examples/envtest');

/** Go, and the modules that the test needs: nothing is downloaded for a test. */
function canBuild(): boolean {
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off' };
  const { status } = spawnSync('go', ['list', '-test', '-deps', '.'], { cwd: MODULE, env, stdio: 'ignore' });
  return isAvailable(
    'go',
    status === 0 ? undefined : 'Go or the modules of test/interop/envtest are not here',
  );
}

function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; env?: object },
): Promise<string> {
  const env = { ...process.env, ...options.env };
  const child = spawn(program, args, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (told += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(told) : reject(new Error(told))));
  });
}

describe.skipIf(!canBuild())('controller-runtime’s envtest on the embedded hub', () => {
  let directory: string;
  let told: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'berth-envtest-'));
    cpSync(MODULE, directory, { recursive: true });
    const offline = { GOFLAGS: '-mod=mod', GOPROXY: 'off' };
    await run('go', ['test', '-c', '-o', 'envtest.test', '.'], { cwd: directory, env: offline });
    const env = { KUBEBUILDER_ASSETS: LAUNCHERS, TMPDIR: directory };
    told = await run('./envtest.test', ['-test.v'], { cwd: directory, env });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each([
    'TestClientsAndControllers/the_administrator_reads_and_writes_typed_objects',
    'TestClientsAndControllers/a_user_has_the_rights_that_RBAC_grants',
    'TestClientsAndControllers/a_controller_reconciles_a_custom_resource',
    'TestClientsAndControllers/a_definition_validates',
    'TestEnvironmentsBesideEachOther',
  ])('%s', (name) => {
    expect(told).toContain(`--- PASS: ${name} `);
  });
});
