export interface ConnectionLimitOptions {
  /** Maximum number of connections. */
  readonly total: number;
  /** Maximum number of connections from one address. */
  readonly perAddress: number;
}

/** Connections without an authenticated user: maximum per address, and in total. */
const UNIDENTIFIED_PER_ADDRESS = 2_000;
const MAX_UNIDENTIFIED = 4_000;
/** Connections of one user; client-go uses one, a client with HTTP/1.1 one for each watch. */
const PER_USER = 1_000;

/** A connection with the properties that the limits need. */
export interface CountedConnection {
  readonly address: string;
  /** Closes it immediately. */
  drop(): void;
}

/**
 * Decides which connections may stay open. A connection is unidentified until a request on it was
 * authenticated. When there are too many unidentified connections, the oldest is dropped, never the
 * newest. So many idle connections cannot lock out a client, even one from the same address: its
 * connection is identified after its first request. If identified users have all connections, the
 * user with the most loses the oldest one. Rejected: refusing the newest connection, as a plain
 * maximum does, which would lock clients out.
 */
export class ConnectionLimits {
  readonly #options: ConnectionLimitOptions;
  /** Insertion order is age. */
  readonly #unidentified = new Set<CountedConnection>();
  readonly #unidentifiedByAddress = new Map<string, Set<CountedConnection>>();
  readonly #byAddress = new Map<string, Set<CountedConnection>>();
  readonly #byUser = new Map<string, Set<CountedConnection>>();
  readonly #userOf = new Map<CountedConnection, string>();
  readonly #all = new Set<CountedConnection>();
  #refused = 0;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#all.size;
  }

  /** Connections without an authenticated user. */
  get unidentified(): number {
    return this.#unidentified.size;
  }

  /** Connections that were dropped or refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** @returns false when the limit is reached; it is not counted then */
  open(connection: CountedConnection): boolean {
    const { address } = connection;
    const ofAddress = this.#byAddress.get(address)?.size ?? 0;
    const unidentified = this.#unidentifiedByAddress.get(address);
    if (
      ofAddress >= this.#options.perAddress &&
      !this.#dropOldest(unidentified) &&
      !this.#dropOfLargest(address)
    )
      return this.#refuse();
    if (
      this.#all.size >= this.#options.total &&
      !this.#dropOldest(this.#unidentified) &&
      !this.#dropOfLargest()
    )
      return this.#refuse();
    if ((unidentified?.size ?? 0) >= UNIDENTIFIED_PER_ADDRESS) this.#dropOldest(unidentified);
    if (this.#unidentified.size >= MAX_UNIDENTIFIED) this.#dropOldest(this.#unidentified);
    this.#all.add(connection);
    addTo(this.#byAddress, address, connection);
    this.#unidentified.add(connection);
    addTo(this.#unidentifiedByAddress, address, connection);
    return true;
  }

  /**
   * Called when the user of the connection is authenticated.
   * @param user undefined for one whose connections are not limited
   * @returns false when the user has too many; the connection must be dropped then
   */
  identify(connection: CountedConnection, user: string | undefined): boolean {
    this.#forgetUnidentified(connection);
    const before = this.#userOf.get(connection);
    if (before === user) return true;
    this.#forgetUser(connection);
    if (user === undefined) return true;
    if ((this.#byUser.get(user)?.size ?? 0) >= PER_USER) return this.#refuse();
    this.#userOf.set(connection, user);
    addTo(this.#byUser, user, connection);
    return true;
  }

  /** Uncounts the connection; a second call does nothing. */
  close(connection: CountedConnection): void {
    if (!this.#all.delete(connection)) return;
    removeFrom(this.#byAddress, connection.address, connection);
    this.#forgetUnidentified(connection);
    this.#forgetUser(connection);
  }

  #refuse(): false {
    this.#refused += 1;
    return false;
  }

  #dropOldest(among: ReadonlySet<CountedConnection> | undefined): boolean {
    const [oldest] = among ?? [];
    return this.#drop(oldest);
  }

  /**
   * Drops the oldest connection of the user with the most.
   * @param address only connections from this address
   */
  #dropOfLargest(address?: string): boolean {
    let most = 1;
    let found: CountedConnection | undefined;
    for (const connections of this.#byUser.values()) {
      if (connections.size <= most) continue;
      const oldest = [...connections].find((one) => address === undefined || one.address === address);
      if (oldest === undefined) continue;
      most = connections.size;
      found = oldest;
    }
    return this.#drop(found);
  }

  #drop(connection: CountedConnection | undefined): boolean {
    if (connection === undefined) return false;
    this.#refused += 1;
    // It is uncounted now, not when its socket has closed.
    this.close(connection);
    connection.drop();
    return true;
  }

  #forgetUnidentified(connection: CountedConnection): void {
    if (this.#unidentified.delete(connection))
      removeFrom(this.#unidentifiedByAddress, connection.address, connection);
  }

  #forgetUser(connection: CountedConnection): void {
    const user = this.#userOf.get(connection);
    if (user === undefined) return;
    this.#userOf.delete(connection);
    removeFrom(this.#byUser, user, connection);
  }
}

function addTo<Item>(sets: Map<string, Set<Item>>, key: string, item: Item): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([item]));
  else set.add(item);
}

function removeFrom<Item>(sets: Map<string, Set<Item>>, key: string, item: Item): void {
  const set = sets.get(key);
  set?.delete(item);
  if (set?.size === 0) sets.delete(key);
}
