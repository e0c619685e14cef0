import type { JsonObject } from '../json/json-value.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import type { AdmissionCheck } from '../write/write-request.ts';

const TOKEN_TYPE = 'kubernetes.io/service-account-token';

/** Whether a Secret is one that a hub with legacy token Secrets fills with a token of ten years. */
export function isTokenSecret(secret: JsonObject): boolean {
  return secret['type'] === TOKEN_TYPE;
}

/** Whether it has its token already. */
export function hasToken(secret: JsonObject): boolean {
  return isTokenSecret(secret) && textAt(objectAt(secret, 'data'), 'token') !== '';
}

/** False of the text of nearly every other Secret: those need not be parsed at the start. */
export function mentionsTokenSecret(json: string): boolean {
  return json.includes(TOKEN_TYPE);
}

/** Where legacy token Secrets are off, who makes one learns that it stays empty, instead of waiting for a token. */
export const legacyTokenNotice: AdmissionCheck = ({ ref, operation, object }) => {
  const { group, plural } = ref.definition;
  if (operation !== 'CREATE' || plural !== 'secrets' || group !== '' || !isTokenSecret(object)) return [];
  return [
    `this hub puts no tokens into Secrets of type ${TOKEN_TYPE}: use \`kubectl create token\`, or start it with --legacy-token-secrets`,
  ];
};
