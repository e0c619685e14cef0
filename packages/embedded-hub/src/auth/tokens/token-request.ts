import { type JsonObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import { invalid, notFound } from '../../wire/status-errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { ServiceAccountTokens, TokenSubject } from './service-account-tokens.ts';
import { MAX_TOKEN_LIFETIME_SECONDS } from './service-account-tokens.ts';

const MIN_SECONDS = 600;
const DEFAULT_SECONDS = 3600;
const TOKEN_REQUEST = { group: 'authentication.k8s.io', kind: 'TokenRequest' };

/**
 * `POST serviceaccounts/NAME/token`: a fresh JWT in the status.
 * @throws StatusError 404 or 422
 */
export async function issueToken(
  request: JsonObject,
  account: { readonly namespace: string; readonly name: string },
  issuer: { readonly tokens: ServiceAccountTokens; readonly store: ObjectStore; readonly nowMs: number },
): Promise<JsonObject> {
  const { namespace, name } = account;
  const entry = issuer.store.get({ storage: 'serviceaccounts', namespace, name });
  if (entry === undefined) throw notFound({ group: '', plural: 'serviceaccounts' }, name);
  const spec = objectAt(request, 'spec') ?? {};
  const asked = spec['expirationSeconds'];
  const seconds = typeof asked === 'number' ? asked : DEFAULT_SECONDS;
  if (seconds < MIN_SECONDS) throw tooShort(seconds, name);
  const lifetime = Math.min(seconds, MAX_TOKEN_LIFETIME_SECONDS);
  const audiences = listAt(spec, 'audiences').filter((item): item is string => typeof item === 'string');
  const uid = textAt(objectAt(entry.object, 'metadata'), 'uid');
  const issuedAt = Math.floor(issuer.nowMs / 1000);
  const boundTo = boundObject(spec, namespace, issuer.store);
  const subject: TokenSubject = { namespace, name, uid, boundTo };
  const token = await issuer.tokens.issue(subject, audiences, { issuedAt, expiresAt: issuedAt + lifetime });
  const metadata = {
    name,
    namespace,
    creationTimestamp: isoSeconds(issuedAt),
  };
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata,
    spec: {
      ...spec,
      audiences: audiences.length > 0 ? audiences : [issuer.tokens.issuer],
      expirationSeconds: lifetime,
    },
    status: { token, expirationTimestamp: isoSeconds(issuedAt + lifetime) },
  };
}

function boundObject(spec: JsonObject, namespace: string, store: ObjectStore): TokenSubject['boundTo'] {
  const ref = objectAt(spec, 'boundObjectRef');
  if (ref === undefined) return undefined;
  const kind = textAt(ref, 'kind');
  const name = textAt(ref, 'name');
  if (kind !== 'Secret' && kind !== 'Pod')
    throw refuse(
      name,
      'spec.boundObjectRef.kind',
      'FieldValueNotSupported',
      `Unsupported value: ${JSON.stringify(kind)}: supported values: "Pod", "Secret"`,
    );
  const storage = kind === 'Pod' ? 'pods' : 'secrets';
  const entry = store.get({ storage, namespace, name });
  if (entry === undefined) throw notFound({ group: '', plural: storage }, name);
  const uid = textAt(objectAt(entry.object, 'metadata'), 'uid');
  const asked = textAt(ref, 'uid');
  if (asked !== '' && asked !== uid)
    throw refuse(
      name,
      'spec.boundObjectRef.uid',
      'FieldValueInvalid',
      `Invalid value: ${JSON.stringify(asked)}: the object has the uid ${uid}`,
    );
  return { kind, name, uid };
}

function tooShort(seconds: number, name: string): Error {
  const message = `Invalid value: ${String(seconds)}: may not specify a duration less than 10 minutes`;
  return refuse(name, 'spec.expirationSeconds', 'FieldValueInvalid', message);
}

function refuse(name: string, field: string, reason: string, message: string): Error {
  return invalid(TOKEN_REQUEST, name, [{ field, reason, message }]);
}

function isoSeconds(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
