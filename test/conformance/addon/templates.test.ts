import { describe, expect, it } from 'vitest';
import { formatQuantity, parseQuantity } from '@berth/kube/model/quantity';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { AddOnDeploymentConfig, AddOnTemplate, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import {
  renderAddOnTemplate,
  templateInstallNamespace,
  type TemplateInput,
} from '@berth/addon/rules/render-template';
import { type Recorded, readRecorded } from './recorded.ts';

interface Given {
  readonly addonName: string;
  readonly managedCluster: KubeObject;
  readonly managedClusterAddOn: ManagedClusterAddOn;
  readonly addOnTemplate: AddOnTemplate;
  readonly addOnDeploymentConfigs: readonly AddOnDeploymentConfig[];
}

interface Expected {
  readonly error: string | null;
  readonly manifests: readonly KubeObject[] | null;
  readonly installNamespace: string;
  readonly installNamespaceError: string | null;
}

/** A value with a quote makes invalid JSON of a manifest upstream. Berth writes the value as it is. */
const QUOTED_VALUE = 'mixed-1413-0034';

const recorded = readRecorded<Given, Expected>('templates');

function inputOf({ case: given }: Recorded<Given, Expected>): TemplateInput {
  const { managedCluster, addOnTemplate, addOnDeploymentConfigs } = given;
  return {
    addonName: given.addonName,
    cluster: managedCluster.metadata,
    addon: given.managedClusterAddOn,
    template: (name) => (name === addOnTemplate.metadata.name ? addOnTemplate : undefined),
    deploymentConfig: (namespace, name) =>
      addOnDeploymentConfigs.find(
        ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
      ),
  };
}

/** Upstream reads workloads into typed objects and writes them again: what is empty comes and goes, and `0.5` CPU becomes `500m`. */
function withoutEmpty(value: unknown, key = ''): unknown {
  if (key === 'cpu') return formatQuantity(parseQuantity(value as string) ?? expect.fail());
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item) => withoutEmpty(item) ?? {});
  if (typeof value !== 'object' || value === null) return value === '' || value === 0 ? undefined : value;
  const kept = Object.entries(value)
    .map(([key, item]) => [key, withoutEmpty(item, key)] as const)
    .filter(([, item]) => item !== undefined && item !== null);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

describe('what a cluster gets of an AddOnTemplate', () => {
  it.each(recorded.map((entry) => ({ name: entry.case.name, entry })))('$name', ({ entry }) => {
    const rendered = renderAddOnTemplate(inputOf(entry));
    if (entry.case.name === QUOTED_VALUE) {
      expect(rendered.ok && JSON.stringify(rendered.value.manifests)).toContain('\\"');
      return;
    }
    expect(rendered.ok).toBe(entry.expected.error === null);
    if (rendered.ok)
      expect(withoutEmpty(rendered.value.manifests)).toEqual(withoutEmpty(entry.expected.manifests));
  });

  it.each(recorded.map((entry) => ({ name: entry.case.name, entry })))(
    'and its install namespace: $name',
    ({ entry }) => {
      const { installNamespace, installNamespaceError } = entry.expected;
      expect(templateInstallNamespace(inputOf(entry))).toEqual(
        installNamespaceError === null
          ? { ok: true, value: installNamespace }
          : { ok: false, error: installNamespaceError },
      );
    },
  );

  it('is held to all recorded cases', () => {
    expect(recorded).toHaveLength(60);
  });
});
