/**
 * Calls `see` for each object that is there and for each change, until the signal aborts. A server ends watches as it likes, and does so
 * soon after a definition was made: then the kind is listed again.
 */
export async function followKind(api, kind, options, see) {
  while (!options.signal.aborted) {
    const { items, resourceVersion } = await api.list(kind, options);
    items.forEach(see);
    if (options.signal.aborted) return;
    for await (const { type, object } of api.watch(kind, { ...options, resourceVersion })) if (type === 'added' || type === 'modified') see(object);
  }
}
