import { type JsonObject, objectAt, textAt } from '../json/json-value.ts';
import type { AdmissionCheck } from '../write/write-request.ts';

const TOKEN_TYPE = 'kubernetes.io/service-account-token';

/**
 * Whether a Secret is of the type service-account-token, which a hub with legacy token Secrets
 * fills.
 */
export function isTokenSecret(secret: JsonObject): boolean {
  return secret['type'] === TOKEN_TYPE;
}

/** Whether it has its token already. */
export function hasToken(secret: JsonObject): boolean {
  return isTokenSecret(secret) && textAt(objectAt(secret, 'data'), 'token') !== '';
}

/**
 * A fast test on the JSON text, false for nearly every other Secret, which then need not be parsed
 * at the start.
 */
export function mentionsTokenSecret(json: string): boolean {
  return json.includes(TOKEN_TYPE);
}

/** Warns the author of such a Secret that it stays empty, if legacy token Secrets are disabled. */
export const legacyTokenNotice: AdmissionCheck = ({ ref, operation, object }) => {
  const { group, plural } = ref.definition;
  if (operation !== 'CREATE' || plural !== 'secrets' || group !== '' || !isTokenSecret(object)) return [];
  return [
    `this hub puts no tokens into Secrets of type ${TOKEN_TYPE}: use \`kubectl create token\`, or start it with --legacy-token-secrets`,
  ];
};
