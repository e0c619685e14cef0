import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = 'application/merge-patch+json';
const RULE = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
const map = (name: string): LooseJson => ({ metadata: { name }, data: { a: 'b' } });

describe('admission policies', () => {
  let hub: TestHub;

  beforeEach(async () => {
    hub = await startTestHub({ audit: 'writes' });
  });
  afterEach(() => hub.stop());

  const made = async (path: string, body: LooseJson): Promise<void> => {
    const { status, text } = await hub.call('POST', path, { body });
    expect(status, text).toBe(201);
  };
  const policy = (name: string, spec: LooseJson, constraints: LooseJson = {}): Promise<void> =>
    made(`${GROUP}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: { matchConstraints: { resourceRules: [RULE], ...constraints }, ...spec },
    });
  const bind = (name: string, actions: readonly string[] = ['Deny']): Promise<void> =>
    made(`${GROUP}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: actions },
    });
  const writeMap = (name: string) => hub.call('POST', MAPS, { body: map(name) });

  it('count at once, and no more when they or their bindings are gone', async () => {
    await policy('no', { validations: [{ expression: 'false' }] });
    expect((await writeMap('one')).status).toBe(201);
    await bind('no');
    expect((await writeMap('two')).status).toBe(422);
    await hub.call('PATCH', `${GROUP}/validatingadmissionpolicies/no`, {
      type: MERGE,
      body: { spec: { validations: [{ expression: 'true' }] } },
    });
    expect((await writeMap('two')).status).toBe(201);
    await hub.call('PATCH', `${GROUP}/validatingadmissionpolicies/no`, {
      type: MERGE,
      body: { spec: { validations: [{ expression: 'false' }] } },
    });
    expect((await writeMap('three')).status).toBe(422);
    await hub.call('DELETE', `${GROUP}/validatingadmissionpolicybindings/no`);
    expect((await writeMap('three')).status).toBe(201);
    await bind('no');
    expect((await writeMap('four')).status).toBe(422);
    await hub.call('DELETE', `${GROUP}/validatingadmissionpolicies/no`);
    expect((await writeMap('four')).status).toBe(201);
  });

  it('are in force after a restart', async () => {
    await policy('no', { validations: [{ expression: 'false' }] });
    await bind('no');
    await hub.restart();
    expect((await writeMap('one')).status).toBe(422);
  });

  it('are named where several refuse, with the warnings of others', async () => {
    for (const name of ['b', 'a', 'c']) {
      await policy(name, { validations: [{ expression: 'false', message: `by ${name}` }] });
      await bind(name, name === 'c' ? ['Warn'] : ['Deny']);
    }
    const { body, headers } = await writeMap('one');
    expect(body.message).toBe(
      `configmaps "one" is forbidden: ValidatingAdmissionPolicy 'a' with binding 'a' denied request: by a`,
    );
    expect(headers['warning']).toBe(
      `299 - "Validation failed for ValidatingAdmissionPolicy 'c' with binding 'c': by c"`,
    );
  });

  it('keep namespaces as they are, also from the controllers of the hub', async () => {
    await policy(
      'stay',
      { validations: [{ expression: "request.operation != 'DELETE'", message: 'it stays' }] },
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kept' } } },
    );
    await bind('stay');
    await made('/api/v1/namespaces', { metadata: { name: 'kept' } });
    await made('/api/v1/namespaces/kept/configmaps', map('one'));
    await hub.call('DELETE', '/api/v1/namespaces/kept');
    const conditions = async (): Promise<string> =>
      (await hub.call('GET', '/api/v1/namespaces/kept/configmaps/one')).text;
    await expect.poll(conditions).toContain('"name":"one"');
    await hub.call('DELETE', `${GROUP}/validatingadmissionpolicybindings/stay`);
    const status = async (): Promise<number> => (await hub.call('GET', '/api/v1/namespaces/kept')).status;
    await expect.poll(status).toBe(404);
  });

  it('leave a trace in the audit log', async () => {
    await policy('noted', {
      validations: [{ expression: "object.metadata.name != 'one'", message: 'that one' }],
      auditAnnotations: [{ key: 'name', valueExpression: "'named ' + object.metadata.name" }],
    });
    await bind('noted', ['Audit']);
    await writeMap('one');
    const lines = (): string[] => readFileSync(join(hub.dataDir, 'audit.log'), 'utf8').split('\n');
    const find = (): string => lines().find((one) => one.includes(`"requestURI":"${MAPS}"`)) ?? '';
    await expect.poll(find).not.toBe('');
    expect(JSON.parse(find()).annotations).toEqual({
      'noted/name': 'named one',
      'validation.policy.admission.k8s.io/validation_failure': JSON.stringify([
        {
          message: 'that one',
          policy: 'noted',
          binding: 'noted',
          expressionIndex: 0,
          validationActions: ['Audit'],
        },
      ]),
    });
  });

  it('say which of their generations was seen', async () => {
    await policy('seen', { validations: [{ expression: 'true' }] });
    const status = async (): Promise<LooseJson> =>
      (await hub.call('GET', `${GROUP}/validatingadmissionpolicies/seen`)).body.status;
    await expect.poll(status).toEqual({ observedGeneration: 1 });
    const body = { spec: { failurePolicy: 'Ignore' } };
    await hub.call('PATCH', `${GROUP}/validatingadmissionpolicies/seen`, { type: MERGE, body });
    await expect.poll(status).toEqual({ observedGeneration: 2 });
  });

  it('are shown as tables', async () => {
    await policy('shown', {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: 'true' }],
    });
    await bind('shown');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const cells = async (plural: string): Promise<LooseJson> =>
      (await hub.call('GET', `${GROUP}/${plural}`, { accept })).body.rows[0].cells.slice(0, 3);
    expect(await cells('validatingadmissionpolicies')).toEqual(['shown', 1, 'v1/ConfigMap']);
    expect(await cells('validatingadmissionpolicybindings')).toEqual(['shown', 'shown', '<unset>']);
  });

  it('do not make MutatingAdmissionPolicy appear', async () => {
    for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
      const path = `/apis/admissionregistration.k8s.io/${version}/mutatingadmissionpolicies`;
      expect((await hub.call('GET', path)).status).toBe(404);
    }
  });
});
