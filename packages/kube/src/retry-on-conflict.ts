import { ConflictError } from '@berth/runtime/errors';

const MAX_ATTEMPTS = 5;

/**
 * Runs a read and a write again, immediately, when the object was changed concurrently. At most five attempts.
 * @throws ConflictError of the last attempt, and every other error
 */
export async function retryOnConflict<T>(readAndWrite: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readAndWrite();
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
