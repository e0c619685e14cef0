import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load, loadAll } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { runCli } from '../../../../../src/app/cli/program.ts';
import { makeCliIo } from '../../../cli-harness.ts';

const TEMPLATE = (name: string): string => `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: AddOnTemplate
metadata: {name: ${name}}
spec:
  addonName: web
  agentSpec:
    workload:
      manifests:
        - apiVersion: apps/v1
          kind: Deployment
          metadata: {name: agent, namespace: web}
          spec:
            selector: {matchLabels: {app: agent}}
            template:
              metadata: {labels: {app: agent}}
              spec:
                containers:
                  - {name: agent, image: 'quay.io/team/agent:v1', args: ['--level={{LEVEL}}']}
  registration:
    - {type: KubeClient}
`;

const CONFIG = `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: AddOnDeploymentConfig
metadata: {name: small, namespace: team-a}
spec:
  customizedVariables: [{name: LEVEL, value: 'a "quoted" one'}]
`;

const CLUSTER = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: cluster1
  annotations:
    open-cluster-management.io/image-registries: '{"registries":[{"source":"quay.io","mirror":"mirror.local"}]}'
`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'berth-addon-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function render(text: string, ...args: readonly string[]) {
  const file = path.join(dir, 'addon.yaml');
  await writeFile(file, text);
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli(['addon', 'render', file, '--cluster', 'cluster1', ...args], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

describe('berth addon render', () => {
  it('shows each variable with its origin, and the objects', async () => {
    const { code, stdout } = await render([TEMPLATE('web-v1'), CONFIG].join('---\n'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^LEVEL +a "quoted" one +AddOnDeploymentConfig team-a\/small$/m);
    expect(stdout).toMatch(/^CLUSTER_NAME +cluster1 +Berth$/m);
    expect(stdout).toMatch(/^Deployment +open-cluster-management-agent-addon +agent$/m);
  });

  it('shows each setting with its origin, and variables that nobody gives', async () => {
    const more = `  nodePlacement: {nodeSelector: {disk: ssd}}
  proxyConfig: {httpProxy: 'http://proxy:3128'}
  resourceRequirements: [{containerID: '*:*:agent', resources: {limits: {cpu: 10m}}}]
`;
    const { stdout } = await render(
      [TEMPLATE('web-v1').replace('LEVEL', 'LEVLE'), `${CONFIG}${more}`, CLUSTER].join('---\n'),
    );
    const given = 'AddOnDeploymentConfig team-a/small';
    expect(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual(
      expect.arrayContaining([
        'LEVLE | nobody: it becomes empty',
        `namespace | open-cluster-management-agent-addon | ${given}`,
        `nodeSelector | {"disk":"ssd"} | ${given}`,
        'mirror of quay.io | mirror.local | ManagedCluster cluster1',
        `httpProxy | http://proxy:3128 | ${given}`,
        `resources of *:*:agent | {"limits":{"cpu":"10m"}} | ${given}`,
      ]) as string[],
    );
    expect((await render(TEMPLATE('web-v1'))).stdout).toMatch(/^namespace +web +AddOnTemplate web-v1$/m);
  });

  it('prints the manifests with images of the mirrors of the cluster', async () => {
    const { stdout } = await render([TEMPLATE('web-v1'), CONFIG, CLUSTER].join('---\n'), '-o', 'yaml');
    const [deployment] = loadAll(stdout) as KubeObject[];
    const [container] = (
      deployment?.['spec'] as { template: { spec: { containers: Record<string, unknown>[] } } }
    ).template.spec.containers;
    expect(container).toMatchObject({
      image: 'mirror.local/team/agent:v1',
      args: ['--level=a "quoted" one'],
      volumeMounts: [{ name: 'hub-kubeconfig', mountPath: '/managed/hub-kubeconfig' }],
    });
    const json = await render(TEMPLATE('web-v1'), '-o', 'json');
    expect(load(json.stdout)).toHaveLength(1);
  });

  it('asks for the template when the files have several', async () => {
    const two = [TEMPLATE('web-v1'), TEMPLATE('web-v2')].join('---\n');
    expect(await render(two)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the files have several: web-v1, web-v2') as string,
    });
    expect(await render(two, '--template', 'web-v3')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('got web-v3, the files have web-v1, web-v2') as string,
    });
    expect((await render(two, '--template', 'web-v2')).code).toBe(0);
  });

  it('says that files without a template have none', async () => {
    expect(await render(CONFIG)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the files have no AddOnTemplate') as string,
    });
  });
});
