import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runCli } from '../../../../src/app/cli/program.ts';
import type { KindInfo } from '../../../../src/core/model/kinds.ts';
import { NAMESPACE } from '../../../../src/core/model/kinds.ts';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { crd } from '../../../interop/argocd-objects.ts';
import { APPLICATION_SET, SECRET } from '../../../../src/app/cli/commands/argocd/argo-kinds.ts';
import type { KubeObject } from '../../../../src/core/model/object-meta.ts';
import { makeCliIo } from '../../cli-harness.ts';

const CRD: KindInfo = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const URL = 'http://127.0.0.1:1';

describe('berth argocd', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  const dir = mkdtempSync(join(tmpdir(), 'berth-argocd-cli-'));
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
  });
  afterAll(async () => {
    await hub.close();
    rmSync(dir, { recursive: true });
  });
  const berth = async (...args: string[]) => {
    const { io, stdout, stderr } = makeCliIo();
    const code = await runCli(['argocd', ...args], io);
    return { code, stdout: stdout(), stderr: stderr() };
  };
  const onHub = (...args: string[]) => berth(...args, '--kubeconfig', hub.kubeconfig);

  it('install --dry-run prints what a user applies, and needs no hub', async () => {
    const { code, stdout } = await berth('install', '--url', URL, '--dry-run', '--name', 'web');
    expect(code).toBe(0);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ConfigMap web',
      'Secret web-plugin',
      'ConfigMap berth-placement-decisions',
      'Role read-placement-decisions',
      'RoleBinding read-placement-decisions',
    ]);
    expect(objects[0]).toMatchObject({ data: { baseUrl: URL, token: '$web-plugin:token' } });
  });

  it('doctor says that Argo CD is not installed', async () => {
    const { code, stderr } = await onHub('doctor');
    expect(code).toBe(1);
    expect(stderr).toMatch(/the API has no ApplicationSets/);
  });

  it('install makes a token once, prints its digest, and keeps it', async () => {
    const first = await onHub('install', '--url', URL, '--placement-namespace', 'team-a');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const secret = () => hub.api.get(SECRET, { namespace: 'argocd', name: 'berth-plugin' });
    const token = Buffer.from(((await secret())?.['data'] as { token: string }).token, 'base64').toString();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(first.stdout).not.toContain(token);
    const entry = parse(first.stdout.slice(first.stdout.indexOf('tokens:'))) as {
      readonly tokens: readonly object[];
    };
    expect(entry.tokens).toMatchObject([{ name: 'argocd-berth', namespaces: ['team-a'] }]);
    const before = (await secret())?.metadata.resourceVersion;
    expect((await onHub('install', '--url', URL)).stdout).not.toContain('A token was made');
    expect((await secret())?.metadata.resourceVersion).toBe(before);
    writeFileSync(join(dir, 'token'), 'a-token-that-was-given\n');
    await onHub('install', '--url', URL, '--token-file', join(dir, 'token'));
    expect((await secret())?.metadata.resourceVersion).not.toBe(before);
  });

  it.each(['ftp://x', 'berth', 'https://x?a=b'])('install refuses the address %s', async (url) => {
    const { code, stderr } = await berth('install', '--url', url, '--dry-run');
    expect(code).toBe(1);
    expect(stderr).toMatch(/--url/);
  });

  it('doctor finds what is wrong in the objects of a hub, and prints it as JSON', async () => {
    await hub.api.create(CRD, crd('applicationsets', 'ApplicationSet') as unknown as KubeObject);
    await expect
      .poll(() =>
        hub.api.list(APPLICATION_SET).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const generators = [
      { plugin: { configMapRef: { name: 'berth' }, requeueAfterSeconds: 30 } },
      { clusterDecisionResource: { configMapRef: 'berth-placement-decisions', name: 'web-decision-1' } },
    ];
    await hub.api.create(APPLICATION_SET, {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ApplicationSet',
      metadata: { name: 'web', namespace: 'argocd' },
      spec: { generators },
    });
    const { code, stdout } = await onHub('doctor', '-o', 'json');
    expect(code).toBe(1);
    const codes = (JSON.parse(stdout) as readonly { readonly code: string }[]).map((one) => one.code);
    expect(codes).toEqual(['argocd.unreachable', 'argocd.no-page']);
    expect((await onHub('doctor')).stdout).toMatch(/hint: kubectl .*\n1 error, 1 warning\n$/);
  });
});
