import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';

const USAGE = ['score-provider', 'resource-usage', '--hub-kubeconfig', '/nowhere/hub.kubeconfig'];

describe('berth score-provider resource-usage', () => {
  it.each([
    { name: 'the default kubeconfig would be read', env: {} },
    { name: 'KUBECONFIG names one', env: { KUBECONFIG: '/nowhere/default.kubeconfig' } },
  ])('refuses to guess the managed cluster where $name', async ({ env }) => {
    const { io, stderr } = makeCliIo({ env });
    expect(await runCli([...USAGE, '--cluster-name', 'edge-7'], io)).toBe(1);
    expect(stderr()).toMatch(/^error: --kubeconfig: is missing, expected the kubeconfig file of the managed/);
  });

  it.each([
    {
      name: 'in a pod',
      env: { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' },
      args: [],
    },
    { name: 'with the file', env: {}, args: ['--kubeconfig', '/nowhere/cluster.kubeconfig'] },
  ])('takes it $name', async ({ env, args }) => {
    const { io, stderr } = makeCliIo({ env });
    expect(await runCli([...USAGE, '--cluster-name', 'edge-7', ...args], io)).toBe(1);
    expect(stderr()).toContain('/nowhere/hub.kubeconfig');
    expect(stderr()).not.toContain('is missing');
  });
});
