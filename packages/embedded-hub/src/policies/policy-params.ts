import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import type { LabelMap } from '@berth/kube/model/selector/label-selector-requirement';
import type { JsonObject } from '../json/json-value.ts';
import { objectAt } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { groupVersionOf } from '../schema/resource-definition.ts';
import type { Scheme } from '../scheme/scheme.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { SelectionSources } from '../webhooks/admission/select-webhook.ts';
import type { ParamKind, ParamRef, PolicyBinding } from './admission-policy.ts';

/** Why a policy cannot be evaluated; its `failurePolicy` applies. */
export interface ConfigurationProblem {
  readonly problem: string;
}

/** The resource of the parameters, or its problem. */
export function paramResource(
  { apiVersion, kind }: ParamKind,
  scheme: Scheme,
): ResourceRef | ConfigurationProblem {
  const { group, version } = groupVersionOf(apiVersion);
  const found = scheme.kind(group, version, kind);
  if (found !== undefined) return found;
  return { problem: `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'` };
}

/**
 * The parameter objects for which a binding evaluates its policy; null for an evaluation without
 * one. An empty list: no evaluation. Source: apiserver
 * `pkg/admission/plugin/policy/generic/policy_dispatcher.go`, CollectParams.
 * @param namespace of the write
 * @throws ConversionNeeded
 */
export function collectParams(
  kind: ResourceRef | undefined,
  [{ paramRef }, namespace]: readonly [PolicyBinding, string],
  sources: Pick<SelectionSources, 'store' | 'toVersion'>,
): readonly (JsonObject | null)[] | ConfigurationProblem {
  if (kind === undefined || paramRef === undefined) return [null];
  const { namespaced } = kind.definition;
  const within = paramRef.namespace || namespace;
  if (namespaced && within === '')
    return {
      problem: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    };
  if (!namespaced && paramRef.namespace !== '')
    return { problem: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' };
  const found = foundParams(kind, [paramRef, namespaced ? within : ''], sources.store);
  if (found.length === 0 && paramRef.denyIfMissing)
    return { problem: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
  return found.map(({ object }) => sources.toVersion(object, kind));
}

function foundParams(
  { definition: { storageKey: storage } }: ResourceRef,
  [{ name, selector }, namespace]: readonly [ParamRef, string],
  store: SelectionSources['store'],
): readonly StoredObject[] {
  if (name !== '') {
    const one = store.get({ storage, namespace, name });
    return one === undefined ? [] : [one];
  }
  const compiled = compileLabelSelector(selector);
  if (!compiled.ok) return [];
  return store
    .list(storage, namespace)
    .filter(({ object }) =>
      matchesLabels(compiled.selector, (objectAt(objectAt(object, 'metadata'), 'labels') ?? {}) as LabelMap),
    );
}
