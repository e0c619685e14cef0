import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { errorText, InputError } from '@berth/runtime/errors';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { type Inventory, INVENTORY_VERSION } from '../../../core/preview/inventory/inventory.ts';
import { inventorySchema } from './inventory-schema.ts';

/**
 * SHA-256 of the text of the inventory, lower-case hex. It reveals a truncated or edited file. `signature`: Ed25519
 * over the text, base64.
 */
interface InventoryHead {
  readonly digest: string;
  readonly signature?: string | undefined;
}

/** Separates head and inventory. The signed text is everything between it and the last brace. */
const SEAM = ',\n"inventory":';
const END = '}\n';

/** @param key Ed25519, PEM (PKCS 8). @throws InputError for a key of another type */
export function renderInventory(
  inventory: Inventory,
  key?: { readonly file: string; readonly pem: string },
): string {
  const text = canonicalJson(inventory);
  const signature = key && sign(null, Buffer.from(text), ed25519(key, createPrivateKey)).toString('base64');
  const head = { digest: digestOf(text), ...(signature !== undefined && { signature }) };
  return `${JSON.stringify(head).slice(0, -1)}${SEAM}${text}${END}`;
}

export interface InventoryText {
  /** The name of the file in messages. */
  readonly file: string;
  readonly text: string;
  /** Ed25519, PEM (SPKI). Absent: the signature is not checked. */
  readonly publicKey?: { readonly file: string; readonly pem: string } | undefined;
}

/**
 * Parses an inventory and checks that it is complete. With a key, it also checks the signature.
 * @throws InputError for a file that is not an inventory, was truncated or edited, has another version, or is not
 *   signed with the key
 */
export function parseInventory({ file, text, publicKey }: InventoryText): Inventory {
  const fail = (code: string, problem: string, hint?: string): InputError =>
    new InputError(problem, { code: `inventory.${code}`, subject: file, hint });
  const { digest, signature, signed, inventory } = parseFile(text, fail);
  const { version } = inventory as { readonly version?: unknown };
  if (version !== INVENTORY_VERSION)
    throw fail(
      'version',
      `got an inventory of version ${JSON.stringify(version)}, expected ${INVENTORY_VERSION}`,
      'write it with the same version of Berth that makes the plan',
    );
  if (digest !== digestOf(signed))
    throw fail(
      'digest',
      'was changed after it was written, or is incomplete',
      'write it again with berth snapshot',
    );
  if (publicKey !== undefined) {
    if (signature === undefined)
      throw fail('signature', `is not signed, expected a signature with the key of ${publicKey.file}`);
    const key = ed25519(publicKey, createPublicKey);
    if (!verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64')))
      throw fail('signature', `has a signature that does not match ${publicKey.file} or the content`);
  }
  const parsed = inventorySchema.safeParse(inventory);
  if (parsed.success) return inventory as Inventory;
  const [issue] = parsed.error.issues;
  throw fail('content', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is no inventory'}`);
}

interface ReadFile extends InventoryHead {
  readonly signed: string;
  readonly inventory: unknown;
}

function parseFile(text: string, fail: (code: string, problem: string) => InputError): ReadFile {
  let value: Readonly<Record<string, unknown>> | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch (error) {
    throw fail('syntax', `is not an inventory: ${errorText(error)}`);
  }
  const { digest, signature, inventory } = value ?? {};
  const isInventory =
    typeof digest === 'string' &&
    (signature === undefined || typeof signature === 'string') &&
    (inventory as { readonly kind?: unknown } | null | undefined)?.kind === 'BerthInventory';
  if (!isInventory) throw fail('syntax', 'is not an inventory, expected a file that berth snapshot wrote');
  const at = text.indexOf(SEAM);
  return { digest, signature, inventory, signed: text.slice(at + SEAM.length, -END.length) };
}

function ed25519(
  { file, pem }: { readonly file: string; readonly pem: string },
  read: (pem: string) => KeyObject,
): KeyObject {
  const fail = (problem: string): InputError =>
    new InputError(problem, {
      code: 'inventory.key',
      subject: file,
      hint: 'create a key pair with berth snapshot --new-key FILE',
    });
  let key: KeyObject;
  try {
    key = read(pem);
  } catch (error) {
    throw fail(`is not a PEM key: ${errorText(error)}`);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw fail(`got a key of type ${key.asymmetricKeyType ?? 'unknown'}, expected ed25519`);
  return key;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
