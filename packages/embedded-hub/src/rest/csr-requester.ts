import type { JsonObject } from '../json/json-value.ts';
import { isObject, objectAt } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { DecodedBody } from '../body/decoded-body.ts';
import type { UserInfo } from '../wire/user-info.ts';

/**
 * Sets the requester of a CertificateSigningRequest to the authenticated user, and ignores the
 * body.
 */
export function fillRequester(
  target: { readonly ref: ResourceRef; readonly user: UserInfo },
  body: DecodedBody,
): DecodedBody {
  const { definition } = target.ref;
  const isRequest =
    definition.group === 'certificates.k8s.io' && definition.kind === 'CertificateSigningRequest';
  if (!isRequest || !isObject(body.value)) return body;
  const { name, uid, groups, extra } = target.user;
  const spec: JsonObject = { ...objectAt(body.value, 'spec') };
  for (const field of ['username', 'uid', 'groups', 'extra']) delete spec[field];
  spec['username'] = name;
  if (uid !== undefined && uid !== '') spec['uid'] = uid;
  if (groups.length > 0) spec['groups'] = [...groups];
  if (extra !== undefined)
    spec['extra'] = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  return { ...body, value: { ...body.value, spec } };
}
