import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstMissing, MIGRATION_STEPS, runExample } from './run-example.ts';

/** As on a machine without Argo CD; test/interop/argocd/examples.test.ts has the programs. */
const WITHOUT_ARGO_CD = { BERTH_PEERS: '/nowhere' };

describe('the examples for Argo CD, without its programs', () => {
  it('argocd-pull: an Application goes to its cluster, and its status comes back', async () => {
    const text = await runExample('argocd-pull');
    expect(text).toContain('ManifestWork east/shop-');
    const [, status = ''] = text.split('The status of the Application on the hub');
    expect(JSON.parse(status)).toEqual({
      health: { status: 'Healthy' },
      sync: { status: 'Synced', revision: 'abc' },
    });
  });

  it('argocd-push: the clusters are registered, and what Argo CD would make follows the placement', async () => {
    const text = await runExample('argocd-push', WITHOUT_ARGO_CD);
    const [before = '', after = ''] = text.split('Committed: the placement selects west, too.');
    expect(before).toMatch(/argocd\/east-cluster-secret +east\nargocd\/west-cluster-secret +west\n/);
    expect(before).toContain('No Argo CD runs (argocd');
    expect(before).toMatch(/argocd +shop-east +default +east +shop\n/);
    expect(before).not.toContain('shop-west');
    expect(after).toMatch(/shop-east .*\n.*shop-west +default +west +shop\n/);
  });

  it('migration: an Application moves for a maintenance and for an outage, and the history tells of it', async () => {
    const text = await runExample('migration', WITHOUT_ARGO_CD);
    expect(text).toContain('A stand-in for Argo CD runs');
    expect(firstMissing(text, MIGRATION_STEPS)).toBeUndefined();
  });
});

/** Ends with a program that dies, while another one does not listen to SIGTERM and the example waits. */
const DOOMED = `
const { runExample } = await import(process.argv[1]);
await runExample('doomed', async (run) => {
  const stubborn = run.start('stubborn', process.execPath, ['-e', 'process.on("SIGTERM", () => 0); console.log("up"); setInterval(() => 0, 1000)']);
  await new Promise((resolve) => stubborn.stdout.once('data', resolve));
  process.stdout.write(String(stubborn.pid));
  run.start('repo-server', process.execPath, ['-e', process.argv[2]]);
  await new Promise((resolve) => setInterval(resolve, 2 ** 30));
});`;
const EXAMPLE_RUN = join(import.meta.dirname, '../../examples/shared/example-run.mjs');

it.each([
  {
    name: 'a program that fails',
    program: 'console.error("no such flag"); process.exitCode = 20',
    want: 'repo-server ended with exit code 20; the end of what it wrote:\nno such flag\n',
  },
  {
    name: 'a program that is killed',
    program: 'process.kill(process.pid, "SIGKILL")',
    want: 'repo-server ended with SIGKILL; the end of what it wrote:\n',
  },
])('an example ends with exit code 1 and the last words of $name', async ({ program, want }) => {
  const args = ['--input-type=module', '-e', DOOMED, EXAMPLE_RUN, program];
  const { code, stdout, stderr } = await new Promise<{ code: unknown; stdout: string; stderr: string }>(
    (resolve) => {
      execFile(process.execPath, args, (error, stdout, stderr) => {
        resolve({ code: error?.code, stdout, stderr });
      });
    },
  );
  expect(stderr).toContain(want);
  expect(code).toBe(1);
  expect(() => process.kill(Number(stdout), 0)).toThrow('ESRCH');
});
