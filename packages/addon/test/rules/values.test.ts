import type { AddOnDeploymentConfigSpec, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { describe, expect, it } from 'vitest';
import {
  annotatedValues,
  chartBuiltIns,
  chartConfigValues,
  imageValue,
  jsonValues,
  mergeValues,
  templateBuiltIns,
  templateConfigValues,
} from '@berth/addon/rules/values';

const addon = (annotations: Record<string, string> = {}): ManagedClusterAddOn => ({
  ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn' },
  metadata: { namespace: 'cluster1', name: 'hello', annotations },
});

const CONFIG: AddOnDeploymentConfigSpec = {
  customizedVariables: [{ name: 'Image', value: 'img:1' }, { name: 'Empty' }],
  nodePlacement: { nodeSelector: { disk: 'ssd' } },
  proxyConfig: { httpProxy: 'http://proxy', caBundle: 'Q0E=' },
  resourceRequirements: [{ containerID: 'deployments:*:agent', resources: { limits: { cpu: '1' } } }],
};

describe('values', () => {
  it.each([
    {
      name: 'maps at every depth',
      layers: [{ a: { b: { c: 1, d: 2 } } }, { a: { b: { d: 3 } } }],
      want: { a: { b: { c: 1, d: 3 } } },
    },
    { name: 'no lists', layers: [{ a: [1, 2] }, { a: [3] }], want: { a: [3] } },
    {
      name: 'a map over a text, and a text over a map',
      layers: [
        { a: 'x', b: { c: 1 } },
        { a: { c: 1 }, b: 'x' },
      ],
      want: { a: { c: 1 }, b: 'x' },
    },
    { name: 'null over a map', layers: [{ a: { b: 1 } }, { a: null }], want: { a: null } },
    { name: 'nothing', layers: [], want: {} },
  ])('are merged: $name', ({ layers, want }) => {
    expect(mergeValues(...layers)).toEqual(want);
  });

  it('come from the annotation of the add-on', () => {
    const key = 'addon.open-cluster-management.io/values';
    expect(annotatedValues(addon())).toEqual({});
    expect(annotatedValues(addon({ [key]: '{"global":{"image":"x"}}' }))).toEqual({ global: { image: 'x' } });
    expect(() => annotatedValues(addon({ [key]: '{' }))).toThrow(`annotation ${key}: is not JSON: `);
    expect(() => annotatedValues(addon({ [key]: '[1]' }))).toThrow('got JSON that is not a map');
  });

  it('come from an AddOnDeploymentConfig, under other names for templates and for charts', () => {
    const resources = { limits: { cpu: '1' } };
    expect(templateConfigValues(CONFIG)).toEqual({
      ...{ Image: 'img:1', Empty: '', NodeSelector: { disk: 'ssd' }, Tolerations: [] },
      ...{ HTTPProxy: 'http://proxy', HTTPSProxy: '', NoProxy: '', ProxyCABundle: 'Q0E=' },
      ResourceRequirements: [{ ContainerIDRegex: '^deployments:.+:agent$', Resources: resources }],
    });
    expect(chartConfigValues(CONFIG)).toEqual({
      ...{ Image: 'img:1', Empty: '', tolerations: [] },
      global: {
        nodeSelector: { disk: 'ssd' },
        proxyConfig: { HTTP_PROXY: 'http://proxy', HTTPS_PROXY: '', NO_PROXY: '', PROXY_CA_BUNDLE: 'Q0E=' },
        resourceRequirements: [{ containerIDRegex: '^deployments:.+:agent$', resources }],
      },
    });
    expect(templateConfigValues({})).toEqual({});
    expect(chartConfigValues({})).toEqual({});
  });

  it.each([
    { mode: 'Default', annotations: {} },
    { mode: 'Hosted', annotations: { 'addon.open-cluster-management.io/hosting-cluster-name': 'host' } },
  ])('are built in: mode $mode', ({ mode, annotations }) => {
    const facts = { addon: addon(annotations), clusterName: 'cluster1', installNamespace: 'agents' };
    expect(templateBuiltIns(facts)).toEqual({
      defaults: {
        HubKubeConfigSecret: 'hello-hub-kubeconfig',
        ManagedKubeConfigSecret: 'hello-managed-kubeconfig',
      },
      fixed: { ClusterName: 'cluster1', AddonInstallNamespace: 'agents', InstallMode: mode },
    });
    expect(chartBuiltIns(facts)).toEqual({
      defaults: {
        hubKubeConfigSecret: 'hello-hub-kubeconfig',
        managedKubeConfigSecret: 'hello-managed-kubeconfig',
      },
      fixed: { clusterName: 'cluster1', addonInstallNamespace: 'agents', installMode: mode },
    });
  });

  const IMAGE = 'quay.io/ocm/agent:v1';
  it.each([
    { name: 'no mirror', registries: [], want: IMAGE },
    { name: 'no match', registries: [{ source: 'ghcr.io', mirror: 'mirror' }], want: IMAGE },
    {
      name: 'a prefix',
      registries: [{ source: 'quay.io/ocm', mirror: 'mirror/x' }],
      want: 'mirror/x/agent:v1',
    },
    {
      name: 'slashes at the end',
      registries: [{ source: 'quay.io/ocm/', mirror: 'mirror/' }],
      want: 'mirror/agent:v1',
    },
    { name: 'an empty source', registries: [{ source: '', mirror: 'mirror' }], want: 'mirror/agent:v1' },
    {
      name: 'the last of two',
      registries: [
        { source: 'quay.io', mirror: 'a' },
        { source: 'quay.io/ocm', mirror: 'b' },
      ],
      want: 'b/agent:v1',
    },
  ])('of images go to mirrors: $name', ({ registries, want }) => {
    const value = imageValue('global.images.agent', IMAGE, {
      config: { registries },
      imageRegistries: undefined,
    });
    expect(value).toEqual({ global: { images: { agent: want } } });
  });

  it('of images with a digest keep it, and use the annotation of the cluster', () => {
    const imageRegistries = '{"registries":[{"source":"quay.io","mirror":"mirror"}]}';
    expect(imageValue('image', 'quay.io/a@sha256:1', { config: {}, imageRegistries })).toEqual({
      image: 'mirror/a@sha256:1',
    });
  });

  it.each([
    { value: { a: 1n }, path: 'a' },
    { value: { a: { b: [() => 1] } }, path: 'a.b[0]' },
    { value: { a: new Date(0) }, path: 'a' },
    { value: { a: Number.NaN }, path: 'a' },
  ])('that are not JSON are refused: $path', ({ value, path }) => {
    expect(() => jsonValues(value)).toThrow(`failed to normalize Helm values: ${path} is no JSON`);
  });

  it('that are undefined are left out', () => {
    expect(jsonValues({ a: undefined, b: { c: undefined, d: [null, true, 'x', 1.5] } })).toEqual({
      b: { d: [null, true, 'x', 1.5] },
    });
  });
});
