/** Who makes the request: what the guard leaves in `request.user`. */
export interface User {
  id: string;
  name: string;
}
