export interface Part {
  name: string;
  content: string;
  /** Makes the part a file. */
  filename?: string;
}

/** The body and header of a form upload. A client makes up a new boundary for each attempt. */
export function multipart(
  parts: Part[],
  boundary = `boundary-${Math.random()}`,
): { body: string; headers: { 'Content-Type': string } } {
  const lines = parts.map(({ name, content, filename }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: application/pdf`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;
  });
  return {
    body: `${lines.join('')}--${boundary}--\r\n`,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** The reverse, for a server without a library for it: files are bytes, fields are text. */
export function parseMultipart(body: Buffer, contentType: string): Record<string, Buffer | string> {
  const boundary = /boundary=(\S+)/.exec(contentType)![1]!;
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => {
      const end = part.indexOf('\r\n\r\n');
      const content = Buffer.from(part.slice(end + 4, -2), 'latin1');
      const name = /name="([^"]+)"/.exec(part)![1]!;
      return [name, part.slice(0, end).includes('filename=') ? content : content.toString()];
    }),
  );
}
