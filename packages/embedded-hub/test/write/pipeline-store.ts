import { decodeBody, type DecodedBody } from '../../src/body/decode-body.ts';
import type { JsonObject } from '../../src/json/json-value.ts';
import { objectAt, textAt } from '../../src/json/json-value.ts';
import { definitionFromCrd } from '../../src/scheme/crd.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import type { ResourceRef } from '../../src/schema/resource-definition.ts';
import { StatusError } from '../../src/wire/status-error.ts';
import { alreadyExists, boundedWork, noSuchResource, notFound } from '../../src/wire/status-errors.ts';
import type { PatchType } from '../../src/write/prepare-patch.ts';
import { preparePatch } from '../../src/write/prepare-patch.ts';
import { prepareApply } from '../../src/write/prepare-apply.ts';
import { prepareCreate } from '../../src/write/prepare-create.ts';
import { prepareUpdate } from '../../src/write/prepare-update.ts';
import type { FieldValidation, PreparedWrite, WriteRequest } from '../../src/write/write-request.ts';

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** Objects in a Map behind the write pipeline, addressed as an API server's: enough to try writes without a server. */
export class PipelineStore {
  readonly scheme = createScheme(OCM_HUB_KINDS);
  readonly objects = new Map<string, JsonObject>();
  now = '2026-01-01T00:00:00Z';
  #version = 0;

  /** Holds these objects and no others. */
  reset(objects: ReadonlyMap<string, JsonObject>): void {
    this.objects.clear();
    for (const [key, object] of objects) this.objects.set(key, object);
  }

  install(crd: JsonObject): void {
    this.scheme.register(definitionFromCrd(crd, this.scheme));
  }

  send(method: string, path: string, body: unknown, contentType = 'application/json'): Answer {
    try {
      return this.#dispatch(method, path, [body, contentType]);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { status: error.httpCode, body: error.toStatus(), warnings: [] };
    }
  }

  #dispatch(method: string, path: string, [body, contentType]: readonly [unknown, string]): Answer {
    const url = new URL(path, 'http://hub');
    const { ref, namespace, name, subresource } = this.#route(url.pathname);
    const key = `${ref.definition.storageKey}|${namespace}|${name}`;
    const live = this.objects.get(key);
    if (method === 'GET') {
      if (live === undefined) throw notFound(ref.definition, name);
      return { status: 200, body: live, warnings: [] };
    }
    const query = url.searchParams;
    const request: WriteRequest = {
      ref,
      subresource,
      namespace,
      name,
      fieldManager: query.get('fieldManager') ?? (contentType.startsWith('application/apply') ? '' : 'test'),
      fieldValidation: (query.get('fieldValidation') ?? 'Ignore') as FieldValidation,
      now: this.now,
      identity: { uid: `uid-${String(this.#version)}`, nameSuffix: 'abcde' },
      user: { name: 'test', groups: [] },
      admission: [],
      can: () => true,
    };
    const bytes =
      body instanceof Uint8Array
        ? body
        : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
    const decoded = boundedWork(() => decodeBody(bytes, contentType, ref.definition));
    return boundedWork(() => this.#write([method, contentType, query], request, [live, decoded]));
  }

  #write(
    [method, contentType, query]: readonly [string, string, URLSearchParams],
    request: WriteRequest,
    [live, decoded]: readonly [JsonObject | undefined, DecodedBody],
  ): Answer {
    const { ref, subresource, name } = request;
    if (method === 'POST') {
      const prepared = prepareCreate(request, decoded);
      if (query.get('dryRun') === 'All') return { status: 201, body: prepared.object, warnings: [] };
      return this.#store(ref, [201, prepared], false);
    }
    if (contentType === 'application/apply-patch+yaml') {
      if (live === undefined && subresource !== '') throw notFound(ref.definition, name);
      const prepared = prepareApply(request, live, decoded, { force: query.get('force') === 'true' });
      if (query.get('dryRun') === 'All')
        return { status: live === undefined ? 201 : 200, body: prepared.object, warnings: [] };
      return this.#store(ref, [live === undefined ? 201 : 200, prepared], true);
    }
    if (live === undefined) throw notFound(ref.definition, name);
    if (method === 'PUT') {
      const prepared = prepareUpdate(request, live, decoded);
      if (query.get('dryRun') === 'All') return { status: 200, body: prepared.object, warnings: [] };
      return this.#store(ref, [200, prepared], true);
    }
    return this.#store(
      ref,
      [200, preparePatch(request, live, PATCH_TYPES[contentType] as PatchType, decoded)],
      true,
    );
  }

  #store(ref: ResourceRef, [status, prepared]: readonly [number, PreparedWrite], replace: boolean): Answer {
    const metadata = objectAt(prepared.object, 'metadata') ?? {};
    const key = `${ref.definition.storageKey}|${textAt(metadata, 'namespace')}|${textAt(metadata, 'name')}`;
    if (!replace && this.objects.has(key)) throw alreadyExists(ref.definition, textAt(metadata, 'name'));
    if (!prepared.changed) return { status, body: prepared.object, warnings: prepared.warnings };
    this.#version += 1;
    const object = { ...prepared.object, metadata: { ...metadata, resourceVersion: String(this.#version) } };
    this.objects.set(key, deepFreeze(object));
    return { status, body: object, warnings: prepared.warnings };
  }

  #route(path: string): { ref: ResourceRef; namespace: string; name: string; subresource: string } {
    const parts = path.split('/').slice(1);
    const [group, version, rest] =
      parts[0] === 'api'
        ? ['', parts[1] ?? '', parts.slice(2)]
        : [parts[1] ?? '', parts[2] ?? '', parts.slice(3)];
    const ownPart = rest.length === 3 && (rest[2] === 'status' || rest[2] === 'finalize');
    const namespaced = rest[0] === 'namespaces' && rest.length > 2 && !ownPart;
    const [plural = '', name = '', subresource = ''] = namespaced ? rest.slice(2) : rest;
    const ref = this.scheme.resource(group, version, plural);
    if (ref === undefined) throw noSuchResource();
    return { ref, namespace: namespaced ? (rest[1] ?? '') : '', name, subresource };
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const below of Object.values(value)) deepFreeze(below);
    Object.freeze(value);
  }
  return value;
}
