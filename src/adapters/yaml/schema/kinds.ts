import { apiVersionOf, typeKeyOf } from '@berth/kube/model/kinds';
import { PLACEMENT_TEST } from '../../../core/placement-test/placement-test.ts';
import { RULE_TEST } from '../../../core/preview/rules/rule-test.ts';
import { type KnownKind, OCM_MANIFESTS } from './ocm-schemas.ts';
import { placementTest } from './placement-test.ts';
import { ruleTest } from './rule-test.ts';

/** Tests are never written to a hub. */
const unknownField = 'is not a field of this kind';

const KNOWN: readonly KnownKind[] = [
  ...OCM_MANIFESTS,
  { info: PLACEMENT_TEST, schema: placementTest, unknownField },
  { info: RULE_TEST, schema: ruleTest, unknownField },
];

const BY_TYPE = new Map(KNOWN.map((known) => [typeKeyOf(known.info), known]));
const BY_GROUP_KIND = new Map(KNOWN.map((known) => [`${known.info.group} ${known.info.kind}`, known]));

/** The kind of an object: `known`, `other-version` of a known kind, or `unknown`. */
export type KindLookup =
  | { readonly state: 'known'; readonly known: KnownKind }
  | { readonly state: 'other-version'; readonly expected: string }
  | { readonly state: 'unknown' };

export function lookUpKind(apiVersion: string, kind: string): KindLookup {
  const known = BY_TYPE.get(`${apiVersion} ${kind}`);
  if (known !== undefined) return { state: 'known', known };
  const sameKind = BY_GROUP_KIND.get(`${apiVersion.split('/')[0] ?? ''} ${kind}`);
  if (sameKind !== undefined) return { state: 'other-version', expected: apiVersionOf(sameKind.info) };
  return { state: 'unknown' };
}

/** Whether the fields of the kind are checked when a file is read. */
export function isFieldsChecked(apiVersion: string, kind: string): boolean {
  return BY_TYPE.has(`${apiVersion} ${kind}`);
}

/** Kind names, for "did you mean". */
export const KNOWN_KIND_NAMES: readonly string[] = KNOWN.map((known) => known.info.kind);

/** Their groups, for the same purpose. */
export const KNOWN_GROUPS: readonly string[] = [...new Set(KNOWN.map((known) => known.info.group))];
