import { z } from 'zod';
import type { AddonPlace } from '../../rules/addons/addon-registrations.ts';
import type { CredentialStore } from '../credentials/credential-store.ts';
import { parseJsonOrUndefined } from '../joining/request-certificate.ts';

const RECORD = z.object({
  /** The hub that asked for it. */
  server: z.string(),
  addon: z.string(),
  secret: z.object({ isHosted: z.boolean(), namespace: z.string(), name: z.string() }),
  /** The open certificate request, with the subject that it asks for. Absent: the Secret has what it needs. */
  request: z.object({ subject: z.string(), keyPem: z.string(), requestPem: z.string() }).optional(),
});

/** A Secret that the agent makes, or made, for an add-on. */
export type AddonRecord = z.infer<typeof RECORD>;

const RECORDS = z.array(RECORD);

/**
 * The Secrets that the agent made for add-ons, kept beside the agent's own credentials. So an agent that was restarted
 * continues with open requests, and removes the Secrets of add-ons that are gone meanwhile.
 */
export class AddonRecords {
  readonly #store: CredentialStore;
  #records: ReadonlyMap<string, AddonRecord> = new Map();
  /** The last write. The next one waits for it, because each writes all records. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(store: CredentialStore) {
    this.#store = store;
  }

  /** Must be called before the other methods. Records that cannot be parsed are ignored. */
  async load(): Promise<void> {
    const files = await this.#store.read();
    const parsed = RECORDS.safeParse(parseJsonOrUndefined(files['addon-secrets.json']));
    this.#records = new Map((parsed.success ? parsed.data : []).map((one) => [keyOf(one.secret), one]));
  }

  list(): readonly AddonRecord[] {
    return [...this.#records.values()];
  }

  get(secret: AddonPlace): AddonRecord | undefined {
    return this.#records.get(keyOf(secret));
  }

  put(record: AddonRecord): Promise<void> {
    return this.#change((records) => records.set(keyOf(record.secret), record));
  }

  remove(secret: AddonPlace): Promise<void> {
    return this.#change((records) => records.delete(keyOf(secret)));
  }

  #change(edit: (records: Map<string, AddonRecord>) => unknown): Promise<void> {
    const change = this.#written.then(async () => {
      const records = new Map(this.#records);
      edit(records);
      await this.#store.write({ 'addon-secrets.json': JSON.stringify([...records.values()]) });
      this.#records = records;
    });
    this.#written = change.catch(() => undefined);
    return change;
  }
}

function keyOf({ isHosted, namespace, name }: AddonPlace): string {
  return `${isHosted ? 'hosting' : 'managed'} ${namespace}/${name}`;
}
