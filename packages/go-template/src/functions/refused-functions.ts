import { Refusal } from '../value/go-error.ts';
import type { FuncMap, GoFunc } from '../value/go-func.ts';
import { type GoType, INT, INTERFACE, STRING, UINT32 } from '../value/go-type.ts';

const RANDOM = 'its result is different each time';
const CERTIFICATE = 'it makes keys and certificates, which are different each time';
const CLOCK = 'its result depends on the time at which Argo CD renders it';

/** Functions of sprig that Berth refuses: their parameters, and why. */
const REFUSED: readonly (readonly [name: string, params: readonly GoType[], reason: string])[] = [
  ['now', [], CLOCK],
  ['ago', [INTERFACE], CLOCK],
  ['randAlphaNum', [INT], RANDOM],
  ['randAlpha', [INT], RANDOM],
  ['randAscii', [INT], RANDOM],
  ['randNumeric', [INT], RANDOM],
  ['randBytes', [INT], RANDOM],
  ['randInt', [INT, INT], RANDOM],
  ['shuffle', [STRING], RANDOM],
  ['uuidv4', [], RANDOM],
  ['bcrypt', [STRING], 'it salts the password, so its result is different each time'],
  ['htpasswd', [STRING, STRING], 'it salts the password, so its result is different each time'],
  ['encryptAES', [STRING, STRING], 'it encrypts with a random start, so its result is different each time'],
  ['decryptAES', [STRING, STRING], 'Berth does not handle secrets in templates'],
  ['derivePassword', [UINT32, STRING, STRING, STRING, STRING], 'Berth does not handle secrets in templates'],
  ['genPrivateKey', [STRING], CERTIFICATE],
  ['buildCustomCert', [STRING, STRING], 'Berth does not handle secrets in templates'],
  ['genCA', [STRING, INT], CERTIFICATE],
  ['genCAWithKey', [STRING, INT, STRING], CERTIFICATE],
];
/** Refused functions for lists or certificates. Here they accept any number of arguments. */
const REFUSED_WITH_LISTS = [
  'genSelfSignedCert',
  'genSelfSignedCertWithKey',
  'genSignedCert',
  'genSignedCertWithKey',
] as const;

interface Refused {
  readonly name: string;
  readonly params: readonly GoType[];
  readonly reason: string;
}

function refusal({ name, params, reason }: Refused): GoFunc {
  const call = (): never => {
    throw new Refusal(`Berth does not render the function ${name}: ${reason}`);
  };
  return { params, rest: undefined, result: INTERFACE, call };
}

/**
 * The refused functions. They are defined, so that a template with one of them in a branch that is
 * not taken still renders.
 */
export const REFUSED_FUNCTIONS: FuncMap = new Map<string, GoFunc>([
  ...REFUSED.map(([name, params, reason]) => [name, refusal({ name, params, reason })] as const),
  ...REFUSED_WITH_LISTS.map(
    (name) => [name, { ...refusal({ name, params: [], reason: CERTIFICATE }), rest: INTERFACE }] as const,
  ),
]);
