import { DER_TAG, readDer, readNested } from './der.ts';

/** The user and groups that a client certificate represents. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** A name with one meaning for every reader, or why it is ambiguous. */
export type SubjectReading =
  | { readonly kind: 'subject'; readonly subject: CertificateSubject }
  | { readonly kind: 'unusable'; readonly why: string };

const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';
const ORGANIZATIONAL_UNIT = '55040b';
/**
 * Well above the longest names of OCM's agents and add-ons. The limit of X.520 (64) is below them,
 * and Go does not enforce it.
 */
const MAX_NAME_BYTES = 1024;
const MAX_ORGANIZATIONS = 64;
/**
 * C0, C1, line and paragraph separators, marks that change the direction of text: they make one name look like
 * another.
 */
const CONTROL = /[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u;

/** The problem of the name of a user or group; undefined if it is valid. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `is longer than ${String(MAX_NAME_BYTES)} bytes`;
  return CONTROL.test(name) ? 'holds control characters' : undefined;
}

/**
 * Reads the DER of an X.501 Name as Go's `pkix.Name` does: every attribute of every RDN counts, CN is the user, each O is a
 * group. Two things differ. Of several CNs Go takes the last; here the name is unusable, since others take the first. Text
 * of other types than UTF8String, PrintableString and IA5String is unusable, since libraries decode it differently.
 */
export function readSubject(nameDer: Buffer): SubjectReading {
  const names = readNames(nameDer);
  if (names === undefined) return unusable('the subject is not a name whose texts are UTF-8 or ASCII');
  const [commonName, ...others] = names.commonNames;
  if (commonName === undefined || others.length > 0)
    return unusable(`the subject has ${String(names.commonNames.length)} common names, expected one`);
  const { organizations } = names;
  if (organizations.length > MAX_ORGANIZATIONS)
    return unusable(
      `the subject has ${String(organizations.length)} organizations, expected at most ${String(MAX_ORGANIZATIONS)}`,
    );
  const userProblem = nameProblem(commonName);
  if (userProblem !== undefined) return unusable(`the common name of the subject ${userProblem}`);
  for (const name of organizations) {
    const problem = nameProblem(name);
    if (problem !== undefined) return unusable(`an organization of the subject ${problem}`);
  }
  return { kind: 'subject', subject: { commonName, organizations } };
}

/** The organizations of a name, even if the name is otherwise unusable. */
export function organizationsOf(nameDer: Buffer): readonly string[] {
  return readNames(nameDer)?.organizations ?? [];
}

/** The organizational units of a name that is usable. */
export function organizationalUnitsOf(nameDer: Buffer): readonly string[] {
  return readNames(nameDer)?.organizationalUnits ?? [];
}

export function sameSubject(left: CertificateSubject, right: CertificateSubject): boolean {
  return (
    left.commonName === right.commonName &&
    left.organizations.length === right.organizations.length &&
    left.organizations.every((name, index) => name === right.organizations[index])
  );
}

interface Names {
  readonly commonNames: string[];
  readonly organizations: string[];
  readonly organizationalUnits: string[];
}

function readNames(nameDer: Buffer): Names | undefined {
  const names: Names = { commonNames: [], organizations: [], organizationalUnits: [] };
  for (const rdn of readNested(nameDer, DER_TAG.sequence) ?? [undefined]) {
    const attributes = rdn?.tag === DER_TAG.set ? readDer(rdn.content) : undefined;
    if (attributes === undefined) return undefined;
    for (const attribute of attributes) if (!readAttribute(attribute.whole, names)) return undefined;
  }
  return names;
}

/** False when the attribute is malformed, or one that matters cannot be read. */
function readAttribute(der: Buffer, names: Names): boolean {
  const [type, value, ...more] = readNested(der, DER_TAG.sequence) ?? [];
  if (type?.tag !== DER_TAG.objectId || value === undefined || more.length > 0) return false;
  const id = type.content.toString('hex');
  const list = listFor(id, names);
  if (list === undefined) return true;
  const text = decodeText(value.tag, value.content);
  // A unit gives no rights, so one that cannot be read does not count.
  if (text === undefined) return id === ORGANIZATIONAL_UNIT;
  list.push(text);
  return true;
}

function listFor(id: string, names: Names): string[] | undefined {
  switch (id) {
    case COMMON_NAME:
      return names.commonNames;
    case ORGANIZATION:
      return names.organizations;
    case ORGANIZATIONAL_UNIT:
      return names.organizationalUnits;
    default:
      return undefined;
  }
}

function decodeText(tag: number, content: Buffer): string | undefined {
  if (tag === DER_TAG.printableString || tag === DER_TAG.ia5String)
    return content.every((byte) => byte < 0x80) ? content.toString('latin1') : undefined;
  if (tag !== DER_TAG.utf8String) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

function unusable(why: string): SubjectReading {
  return { kind: 'unusable', why };
}
