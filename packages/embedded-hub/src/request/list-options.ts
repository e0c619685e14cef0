import type { Requirement } from '@berth/kube/model/selector/label-selector-requirement';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { isTrueParameter } from '@berth/kube/request-info';
import { badRequest, invalid, resourceVersionTooLarge } from '../wire/status-errors.ts';
import {
  checkFieldSelector,
  type FieldRequirement,
  parseFieldSelector,
  parseLabelSelector,
} from './selectors.ts';

/** The query of a list, watch or deletecollection, checked. */
export interface ListOptions {
  readonly labels: readonly Requirement[];
  readonly fields: readonly FieldRequirement[];
  /** 0: no limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** undefined: not given. */
  readonly resourceVersion: number | undefined;
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  readonly sendInitialEvents: boolean | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

const LIST_OPTIONS = { group: 'meta.k8s.io', kind: 'ListOptions' };

/** @throws StatusError 400 or 422 */
export function parseListOptions(query: URLSearchParams, ref: ResourceRef): ListOptions {
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  checkFieldSelector(fields, ref);
  const initial = query.get('sendInitialEvents');
  const options: ListOptions = {
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields,
    limit: parseCount(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    resourceVersion: parseVersion(query.get('resourceVersion')),
    resourceVersionMatch: parseMatch(query.get('resourceVersionMatch')),
    sendInitialEvents: initial === null ? undefined : isTrueParameter(initial),
    allowWatchBookmarks: isTrueParameter(query.get('allowWatchBookmarks')),
    timeoutSeconds: parseCount(query, 'timeoutSeconds'),
  };
  checkCombination(options, isTrueParameter(query.get('watch')));
  return options;
}

function parseCount(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw badRequest(`${name}: got ${JSON.stringify(text)}, expected a non-negative integer`);
  return Number(text);
}

function parseVersion(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid(LIST_OPTIONS, '', [
    {
      field: 'resourceVersion',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(text)}: must be an integer`,
    },
  ]);
}

function parseMatch(text: string | null): ListOptions['resourceVersionMatch'] {
  if (text === null || text === '') return '';
  if (text === 'Exact' || text === 'NotOlderThan') return text;
  throw invalid(LIST_OPTIONS, '', [
    {
      field: 'resourceVersionMatch',
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(text)}: supported values: "Exact", "NotOlderThan", ""`,
    },
  ]);
}

function checkCombination(options: ListOptions, watch: boolean): void {
  const refuse = (field: string, why: string): never => {
    throw invalid(LIST_OPTIONS, '', [{ field, reason: 'FieldValueForbidden', message: `Forbidden: ${why}` }]);
  };
  const { sendInitialEvents, resourceVersionMatch, resourceVersion, continueToken } = options;
  if (!watch && sendInitialEvents !== undefined)
    refuse('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  if (watch && sendInitialEvents !== undefined && resourceVersionMatch !== 'NotOlderThan')
    refuse('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (watch && sendInitialEvents === undefined && resourceVersionMatch !== '')
    refuse(
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    );
  if (!watch && resourceVersionMatch !== '' && resourceVersion === undefined)
    refuse('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (resourceVersionMatch === 'Exact' && resourceVersion === 0)
    refuse('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  if (continueToken !== '' && resourceVersion !== undefined && resourceVersion !== 0)
    throw badRequest('specifying resource version is not allowed when using continue');
}

/** @throws StatusError 504 when the client has seen a version that this hub has not reached */
export function checkNotFuture(options: Pick<ListOptions, 'resourceVersion'>, currentRv: number): void {
  const requested = options.resourceVersion;
  if (requested !== undefined && requested > currentRv)
    throw resourceVersionTooLarge(String(requested), String(currentRv));
}

/**
 * Position of the next page of a list: after this object, in the state of version `rv` (-1: the
 * newest state).
 */
interface ContinuePoint {
  readonly rv: number;
  readonly namespace: string;
  readonly name: string;
}

export function encodeContinue(point: ContinuePoint): string {
  return Buffer.from(JSON.stringify({ v: 1, ...point })).toString('base64url');
}

/** @throws StatusError 400 when the token is not one of ours */
export function decodeContinue(token: string): ContinuePoint {
  try {
    const { v, rv, namespace, name } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as {
      [key in 'v' | 'rv' | 'namespace' | 'name']?: unknown;
    };
    if (v === 1 && Number.isInteger(rv) && typeof namespace === 'string' && typeof name === 'string')
      return { rv: rv as number, namespace, name };
  } catch {
    // Falls through to the error below.
  }
  throw badRequest('continue key is not valid: it was not issued by this server');
}
