import { describe, expect, it } from 'vitest';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import type { JsonObject } from '@berth/embedded-hub/json/json-value';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '@berth/embedded-hub/scheme/create-scheme';
import type { ResourceRef } from '@berth/embedded-hub/schema/resource-definition';
import { StatusError } from '@berth/embedded-hub/wire/status-error';
import type { AccessAttributes } from '../../../packages/embedded-hub/src/wire/user-info.ts';
import type { AdmissionWrite } from '@berth/embedded-hub/write/write-request';

const scheme = createScheme(OCM_HUB_KINDS);
const NOW = '2026-06-01T00:00:00Z';

interface Write {
  readonly plural: string;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  /** Rights, as `verb resource/subresource name`. */
  readonly rights?: readonly string[];
  readonly subresource?: string;
  readonly operation?: 'DELETE';
  readonly endingNamespaces?: readonly string[];
}

const GROUPS: Readonly<Record<string, readonly [string, string]>> = {
  managedclusters: ['cluster.open-cluster-management.io', 'v1'],
  managedclustersetbindings: ['cluster.open-cluster-management.io', 'v1beta2'],
  manifestworks: ['work.open-cluster-management.io', 'v1'],
};

function writeOf(write: Write): AdmissionWrite {
  const { plural, object, old, rights = [], subresource = '', operation, endingNamespaces = [] } = write;
  const [group, version] = GROUPS[plural] as readonly [string, string];
  return {
    operation: operation ?? (old === undefined ? 'CREATE' : 'UPDATE'),
    ref: scheme.resource(group, version, plural) as ResourceRef,
    subresource,
    object,
    old,
    user: { name: 'ann', groups: [] },
    isNamespaceEnding: (namespace) => endingNamespaces.includes(namespace),
    can: (asked: AccessAttributes) =>
      rights.includes(
        `${asked.verb} ${asked.resource}${asked.subresource === undefined ? '' : `/${asked.subresource}`} ${asked.name ?? ''}`,
      ),
  };
}

/** `ok`, or code and sentence of the refusal. */
function verdict(write: Write): string {
  try {
    for (const check of hubAdmission()) check(writeOf(write));
    return 'ok';
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.httpCode)} ${error.statusMessage}`;
    throw error;
  }
}

const SET = 'cluster.open-cluster-management.io/clusterset';
const cluster = (spec: JsonObject, labels: JsonObject = {}): JsonObject => ({
  metadata: { name: 'c1', labels },
  spec,
});

describe('ManagedCluster', () => {
  it.each<{ name: string; write: Write; want: RegExp | string }>([
    {
      name: 'plain',
      write: { plural: 'managedclusters', object: cluster({ hubAcceptsClient: false }) },
      want: 'ok',
    },
    {
      name: 'accepting needs a right',
      write: { plural: 'managedclusters', object: cluster({ hubAcceptsClient: true }) },
      want: /^403 .*user "ann" cannot update the HubAcceptsClient field/,
    },
    {
      name: 'accepting with the right',
      write: {
        plural: 'managedclusters',
        object: cluster({ hubAcceptsClient: true }),
        rights: ['update managedclusters/accept c1'],
      },
      want: 'ok',
    },
    {
      name: 'accepting while the namespace is being deleted',
      write: {
        plural: 'managedclusters',
        object: cluster({ hubAcceptsClient: true }),
        rights: ['update managedclusters/accept c1'],
        endingNamespaces: ['c1'],
      },
      want: /^403 .*cluster namespace "c1" is terminating/,
    },
    {
      name: 'entering the default set as a new cluster needs a right',
      write: { plural: 'managedclusters', object: cluster({}, { [SET]: 'default' }) },
      want: /^403 .*"default"/,
    },
    {
      name: 'entering the default set from none needs no right: admission itself does it',
      write: {
        plural: 'managedclusters',
        object: cluster({}, { [SET]: 'default' }),
        old: cluster({}),
      },
      want: 'ok',
    },
    {
      name: 'staying accepted needs none',
      write: {
        plural: 'managedclusters',
        object: cluster({ hubAcceptsClient: true }),
        old: cluster({ hubAcceptsClient: true }),
      },
      want: 'ok',
    },
    {
      name: 'joining a set needs a right',
      write: { plural: 'managedclusters', object: cluster({}, { [SET]: 's' }) },
      want: /^403 .*"s"/,
    },
    {
      name: 'leaving one set for another needs both',
      write: {
        plural: 'managedclusters',
        object: cluster({}, { [SET]: 's' }),
        old: cluster({}, { [SET]: 'r' }),
        rights: ['create managedclustersets/join s'],
      },
      want: /^403 .*"r"/,
    },
    {
      name: 'with both',
      write: {
        plural: 'managedclusters',
        object: cluster({}, { [SET]: 's' }),
        old: cluster({}, { [SET]: 'r' }),
        rights: ['create managedclustersets/join s', 'create managedclustersets/join r'],
      },
      want: 'ok',
    },
    {
      name: 'addresses are https',
      write: {
        plural: 'managedclusters',
        object: cluster({ managedClusterClientConfigs: [{ url: 'http://x' }] }),
      },
      want: '400 url "http://x" is invalid in client configs',
    },
    {
      name: 'the name is a namespace',
      write: { plural: 'managedclusters', object: { metadata: { name: 'a.b' }, spec: {} } },
      want: /^422 .*must not contain dots/,
    },
    {
      name: 'status is not looked at',
      write: {
        plural: 'managedclusters',
        object: cluster({ hubAcceptsClient: true }),
        subresource: 'status',
      },
      want: 'ok',
    },
    {
      name: 'deletion is not looked at',
      write: { plural: 'managedclusters', object: cluster({ hubAcceptsClient: true }), operation: 'DELETE' },
      want: 'ok',
    },
  ])('$name', ({ write, want }) => {
    expect(verdict(write)).toMatch(want);
  });

  const mutated = (object: JsonObject, old?: JsonObject): JsonObject => {
    const write = writeOf({ plural: 'managedclusters', object, ...(old === undefined ? {} : { old }) });
    return hubAdmission().reduce(
      (current, { mutate }) => mutate?.({ ...write, object: current }, NOW) ?? current,
      object,
    );
  };
  const taints = (object: JsonObject, old?: JsonObject): unknown =>
    (mutated(object, old)['spec'] as JsonObject)['taints'];

  it.each<{ name: string; labels: JsonObject | string | undefined; want: unknown }>([
    { name: 'no labels', labels: undefined, want: { [SET]: 'default' } },
    { name: 'other labels', labels: { zone: 'a' }, want: { zone: 'a', [SET]: 'default' } },
    { name: 'an empty set', labels: { [SET]: '' }, want: { [SET]: 'default' } },
    { name: 'a set', labels: { [SET]: 'red' }, want: { [SET]: 'red' } },
    { name: 'labels of another type', labels: 'wrong', want: 'wrong' },
  ])('the default set: $name', ({ labels, want }) => {
    const metadata = { name: 'c1', ...(labels !== undefined && { labels }) };
    expect(mutated({ metadata, spec: {} })).toMatchObject({ metadata: { name: 'c1', labels: want } });
  });
  const early = '2026-01-01T00:00:00Z';

  it('stamps taints on creation, whatever is sent', () => {
    expect(taints(cluster({ taints: [{ key: 'k', effect: 'NoSelect', timeAdded: early }] }))).toEqual([
      { key: 'k', effect: 'NoSelect', timeAdded: NOW },
    ]);
  });

  it.each<{ name: string; sent: JsonObject; want: string }>([
    {
      name: 'unchanged keeps its time',
      sent: { key: 'k', effect: 'NoSelect', timeAdded: early },
      want: early,
    },
    { name: 'changed gets a new one', sent: { key: 'k', effect: 'PreferNoSelect' }, want: NOW },
    { name: 'stamped in the same write already', sent: { key: 'k', effect: 'X', timeAdded: NOW }, want: NOW },
    { name: 'new gets one', sent: { key: 'other', effect: 'NoSelect' }, want: NOW },
  ])('on update: $name', ({ sent, want }) => {
    const old = cluster({ taints: [{ key: 'k', effect: 'NoSelect', timeAdded: early }] });
    expect(taints(cluster({ taints: [sent] }), old)).toMatchObject([{ timeAdded: want }]);
  });

  it('refuses an unchanged taint without its time, as a second `kubectl apply` sends it', () => {
    const old = cluster({ taints: [{ key: 'k', effect: 'NoSelect', timeAdded: early }] });
    const sent = cluster({ taints: [{ key: 'k', effect: 'NoSelect' }] });
    expect(() => taints(sent, old)).toThrow('It is not allowed to set TimeAdded of Taint "k".');
  });

  it.each([{}, { timeAdded: early }, { timeAdded: null }])(
    'stamps what nobody stamped when it came: %j',
    (time) => {
      const old = cluster({ taints: [{ key: 'k', effect: 'NoSelect' }] });
      const sent = cluster({ taints: [{ key: 'k', effect: 'NoSelect', ...time }] });
      expect(taints(sent, old)).toEqual([{ key: 'k', effect: 'NoSelect', timeAdded: NOW }]);
    },
  );

  it("refuses a time of the client's own", () => {
    const old = cluster({ taints: [] });
    const sent = cluster({ taints: [{ key: 'k', effect: 'NoSelect', timeAdded: early }] });
    expect(() => taints(sent, old)).toThrow('It is not allowed to set TimeAdded of Taint "k".');
  });
});

describe('ManagedClusterSetBinding', () => {
  const binding = (name: string, clusterSet: string): JsonObject => ({
    metadata: { name, namespace: 'ns' },
    spec: { clusterSet },
  });
  const right = ['create managedclustersets/bind s'];

  it.each<{ name: string; write: Omit<Write, 'plural'>; want: RegExp | string }>([
    { name: 'with the right', write: { object: binding('s', 's'), rights: right }, want: 'ok' },
    {
      name: 'without',
      write: { object: binding('s', 's') },
      want: /^403 .*user "ann" is not allowed to bind cluster set "s"/,
    },
    {
      name: 'another name',
      write: { object: binding('x', 's'), rights: right },
      want: /^400 The ManagedClusterSetBinding must have the same name/,
    },
    {
      name: 'labels of an existing one',
      write: { object: binding('s', 's'), old: binding('s', 's') },
      want: 'ok',
    },
  ])('$name', ({ write, want }) => {
    expect(verdict({ plural: 'managedclustersetbindings', ...write })).toMatch(want);
  });
});

describe('ManifestWork', () => {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'd' } };
  const work = (spec: JsonObject): JsonObject => ({ metadata: { name: 'w', namespace: 'c1' }, spec });
  const executor = { subject: { type: 'ServiceAccount', serviceAccount: { namespace: 'a', name: 'b' } } };
  const plain = work({ workload: { manifests: [manifest] } });
  const full = work({ workload: { manifests: [manifest] }, executor });

  it.each<{ name: string; write: Omit<Write, 'plural'>; want: RegExp | string }>([
    {
      name: 'plain, as the agent',
      write: {
        object: plain,
        rights: ['execute-as manifestworks system:serviceaccount::klusterlet-work-sa'],
      },
      want: 'ok',
    },
    {
      name: 'plain, without the right',
      write: { object: plain },
      want: '400 user ann cannot manipulate the Manifestwork with executor /klusterlet-work-sa in namespace c1',
    },
    {
      name: 'executor taken away',
      write: { object: plain, old: full, rights: ['execute-as manifestworks system:serviceaccount:a:b'] },
      want: /^400 .*executor \/klusterlet-work-sa/,
    },
    {
      name: 'executor without subject',
      write: { object: work({ workload: { manifests: [manifest] }, executor: {} }) },
      want: '400 executor service account can not be nil',
    },
    { name: 'no executor before and after', write: { object: plain, old: plain }, want: 'ok' },
    { name: 'empty', write: { object: work({}) }, want: /^400 manifests should not be empty/ },
    {
      name: 'twice the same',
      write: { object: work({ workload: { manifests: [manifest, manifest] } }) },
      want: /^400 .*duplicate manifest/,
    },
    {
      name: 'too large',
      write: {
        object: work({ workload: { manifests: [{ ...manifest, data: { a: 'x'.repeat(520_000) } }] } }),
      },
      want: /^400 .*exceeds/,
    },
    {
      name: 'as somebody else',
      write: { object: full },
      want: '400 user ann cannot manipulate the Manifestwork with executor a/b in namespace c1',
    },
    {
      name: 'as somebody else, with the right',
      write: { object: full, rights: ['execute-as manifestworks system:serviceaccount:a:b'] },
      want: 'ok',
    },
    { name: 'executor unchanged', write: { object: full, old: full }, want: 'ok' },
    { name: 'status', write: { object: work({}), subresource: 'status' }, want: 'ok' },
  ])('$name', ({ write, want }) => {
    expect(verdict({ plural: 'manifestworks', ...write })).toMatch(want);
  });
});
